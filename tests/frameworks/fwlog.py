# SPDX-License-Identifier: MIT
"""What a log says about a caching allocator and about phases, for tests: on vtlog, so nothing is shared with the
analyzer.

    for step in fwlog.Log("log.vtl").steps():    one item a mark, and one at the end
        step.name                                the mark's name
        step.blocks, step.driver                 {device: live bytes} of the framework's and the driver's layer
        step.peak_blocks, step.peak_driver       {device: the most so far}
        step.allocated, step.reserved            {device: the allocator's own totals, as overheard}
        step.strays                              blocks in no driver allocation, frees of what was never seen
"""

import collections
import struct
import subprocess

import lib
import vtlog

CACHEINFO, CACHEOOM, PHASE = 0x20, 0x21, 0x22
PUSH, POP, START, END, MARK = 1, 2, 3, 4, 5
BLOCK = 16
DRIVER = {1, 3, 5, 7, 8, 11}
STANDIN = "standin"  # the folder that build() makes, within the case's own


def build():
    done = subprocess.run([f"{lib.SRC}/tests/frameworks/build", STANDIN], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        lib.fail(f"tests/frameworks/build: exit status {done.returncode}: {done.stdout}")


def traced(script, *arguments, **options):
    """Runs a Python script traced on the simulated GPU with the stand-in in reach."""
    options.setdefault("STANDIN", STANDIN)
    return lib.traced([lib.PYTHON, script, *arguments], PYTHONPATH=f"{lib.SRC}/tests/frameworks", **options)


class Step:
    def __init__(self):
        for name in ("blocks", "driver", "peak_blocks", "peak_driver", "allocated", "reserved"):
            setattr(self, name, collections.Counter())
        self.name, self.strays = None, 0
        self.stale = set()  # devices whose driver memory changed since the allocator last spoke


class Log(vtlog.Log):
    def names(self):
        found = {}
        for r in self.of(vtlog.NAME):
            number, length = struct.unpack_from("<II", r[9])
            text = r[9][8:8 + length].decode("utf-8", "replace")
            if found.setdefault(number, text) != text:  # threads that meet at a new one may all write it
                lib.fail(f"name {number} is written twice, differently")
        return found

    def phases(self):
        """(what, name, domain, range, began, ticks, tid) of each, in the order of time."""
        names, found = self.names(), []
        for r in sorted(self.of(PHASE), key=lambda r: r[4]):
            name, domain = struct.unpack_from("<II", r[9])
            lib.check(not name or name in names, f"phase name {name} stands for nothing")
            found.append((r[1], names.get(name), names.get(domain), r[7], r[6], r[4], r[8]))
        return found

    def steps(self):
        """Replays the log. A block's device is that of the driver allocation that holds it, else as said."""
        now, segments, blocks, said = Step(), {}, {}, {}
        names = self.names()

        def holder(address, device):
            for start, (size, where) in segments.items():
                if start <= address < start + size:
                    return where
            now.strays += 1
            return device

        # In one chunk the order of records is that of events; a stable sort keeps it at equal times.
        for r in sorted(self.of(vtlog.ALLOC, vtlog.FREE, CACHEINFO, PHASE), key=lambda r: r[4]):
            kind_of, kind, device, address = r[0], r[1], r[5], r[6]
            if kind_of in (vtlog.ALLOC, vtlog.FREE):
                (now.stale.discard if kind == BLOCK else now.stale.add)(device)
            size = r[7] & 0xffffffffffff
            if kind_of == PHASE and kind == MARK:
                now.name = names[struct.unpack_from("<I", r[9])[0]]
                yield now
            elif kind_of == CACHEINFO:
                now.allocated[device], now.reserved[device] = r[6], r[7]
            elif kind_of == vtlog.ALLOC and kind == BLOCK:
                lib.check(address not in blocks, f"block {address:#x} is allocated while it is live")
                where = holder(address, device)
                blocks[address] = (size, where, device)
                now.blocks[where] += size
                now.allocated[device] += size
                now.peak_blocks[where] = max(now.peak_blocks[where], now.blocks[where])
            elif kind_of == vtlog.FREE and kind == BLOCK:
                size, where, device = blocks.pop(address, (0, device, device))
                now.strays += size == 0
                now.blocks[where] -= size
                now.allocated[device] -= size
            elif kind_of == vtlog.ALLOC and kind in DRIVER:
                segments[address] = (size, device)
                now.driver[device] += size
                now.peak_driver[device] = max(now.peak_driver[device], now.driver[device])
            elif kind_of == vtlog.FREE and address in segments:
                size, device = segments.pop(address)
                now.driver[device] -= size
        now.name = None
        yield now
