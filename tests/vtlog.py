# SPDX-License-Identifier: MIT
"""A second reader of logs, only for tests: by the byte tables of include/vramtrace/log_format.h and records.def,
sharing no code with the analyzer, so that a mistake in one of them shows.

    log = vtlog.Log("log.vtl")
    log.exit_kind, log.exit_status, log.dropped      the header's words
    log.records                                      every record of every chunk, as tuples (see below)
    live, faults = log.replay()                      memory live at the end, and inconsistent events

Also from a shell: `python3 tests/vtlog.py LOG EXPRESSION` prints the expression with `log` in it.
"""

import struct
import sys

CHUNK = 65536
ALLOC, FREE, FAIL, FREE_FAIL, BULK, MEMINFO, OBJECT = 1, 2, 3, 4, 5, 6, 7
STACK, MODULE, CODE, THREAD, DEVICE, NOTE, NAME, ENV = 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x88, 0x8a
STEP, OWNED, SNAPSHOT, TEMPLATE, SHORT_STACK, MISSED = 0x91, 0x92, 0x93, 0x94, 0x95, 0x98
REASONS = {1: "no-room", 2: "left", 3: "refused", 4: "unseen", 5: "namespace"}
FIXED = {ALLOC: 32, FREE: 24, FAIL: 32, FREE_FAIL: 32, BULK: 32, MEMINFO: 32, OBJECT: 32, 8: 32, 9: 40,
         0x0c: 64, 0x20: 32, 0x21: 40, 0x22: 40, 0x23: 40}
DEVICE_KIND, MANAGED_KIND, POOL_KIND, HOST_KIND = 1, 2, 3, 4
OWNED_BY_CONTEXT = {1, 2, 4, 7, 8, 12}
SPACES = {4: 1, 16: 2, 5: 3, 6: 3, 7: 3, 8: 3, 12: 4}
DROPS = ("full", "nested", "memory", "lost", "stacks", "live", "unknown", "bound")
KINDS = {0: "none", 1: "exited", 2: "exec", 3: "signaled"}
EVENT = struct.Struct("<BBHIQQQ")  # type, kind, hook, stack, when, address or size, the word after


def text(data):
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


class Log:
    """`records`: (type, kind, hook, high, ticks, device, a, b, tid, body) with a, b the third and fourth word; for types
    from 0x80 ticks, device, a and b are 0 and `body` has the bytes after the first word (of the others, those after
    the fourth). Order: chunk by chunk, as written. Short records are there in their long form; `short` counts them. `slots`: (tid, entered_at) of each that a thread used; `announced`: entered_at of snapshots; `finished`: how many chunks are full. Raises ValueError for anything that the byte tables forbid."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = self.data = file.read()
        if len(data) < 4096 or data[:8] != b"vramlog\n":
            raise ValueError(f"{path}: no log: {len(data)} bytes, begins {data[:8]!r}")
        (self.version, self.version_min, header_bytes, chunk_bytes, self.clock, self.pid, self.start_ticks) = \
            struct.unpack_from("<6IQ", data, 8)
        if self.version != 1 or (header_bytes, chunk_bytes) != (4096, CHUNK):
            raise ValueError(f"{path}: version {self.version}, header {header_bytes}, chunks {chunk_bytes}")
        self.chunks, = struct.unpack_from("<Q", data, 72)
        self.dropped = dict(zip(DROPS, struct.unpack_from("<8Q", data, 88)))
        kind, self.exit_status, self.exit_ticks, self.rank, self.flags = struct.unpack_from("<IiQiI", data, 152)
        self.exit_kind = KINDS[kind]
        self.run_id, self.boot_id = text(data[176:216]), text(data[216:256])
        self.host, self.tracer, self.job = text(data[256:320]), text(data[320:344]), text(data[344:384])
        self.ppid, command_bytes = struct.unpack_from("<II", data, 384)
        self.command = [w.decode("utf-8", "replace") for w in data[400:400 + command_bytes].split(b"\0")[:-1]]
        self.exe, self.cwd = text(data[1424:1936]), text(data[1936:2448])
        local, self.world_size, self.restart = struct.unpack_from("<3I", data, 2512)
        self.local_rank, self.launch = local - 1, text(data[2528:2592])
        self.first_drop, self.bound = struct.unpack_from("<Q", data, 2472)[0], struct.unpack_from("<Q", data, 2592)[0]
        self.summary, *self.free_chunks, self.bound_at = struct.unpack_from("<130Q", data, 2616)
        self.lost = sum(self.dropped[reason] for reason in (*DROPS[:4], "bound"))  # events; the rest are not
        self.records, self.taken_chunks, self.chunk_tids, self.short = [], 0, [], 0
        self.slots, self.announced, self.finished = [], [], 0
        for offset in range(CHUNK, len(data) - 63, CHUNK):
            self._chunk(offset, min(offset + CHUNK, len(data)))

    def _chunk(self, offset, end):
        data = self.data
        magic, tid, number = struct.unpack_from("<IIQ", data, offset)
        if magic == 0:
            return
        if magic == 0x4c535456:
            slots = [struct.unpack_from("<QI", data, at)[::-1] for at in range(offset + 64, end - 63, 64)]
            self.slots += [slot for slot in slots if any(slot) and slot[0] != 0xFFFFFFFF]
            self.announced += [entered for tid, entered in slots if tid == 0xFFFFFFFF]
            return
        if magic != 0x4b435456 or number != offset // CHUNK:
            raise ValueError(f"chunk at {offset}: magic {magic:#x}, number {number}")
        self.taken_chunks += 1
        finished, generation = struct.unpack_from("<QQ", data, offset + 24)
        self.finished += finished == generation + 1
        self.chunk_tids.append(tid)
        at, tid, append = offset + 64, 0, self.records.append
        templates, frames, last = {}, {}, 0
        while at + 8 <= end and data[at]:
            kind_of = data[at]
            if 0x40 <= kind_of < 0x60:
                size = 8 if kind_of < 0x50 else 16
                if at + size > end and end < offset + CHUNK:
                    return
                device, kind, hook, context, high = templates[kind_of & 15]  # KeyError: one that is not there
                word = int.from_bytes(data[at:at + size], "little")
                if size == 8:
                    last += word >> 8 & 0x3fffff
                    a = high << 38 | word >> 30 << 4
                    append((FREE, kind, hook, 0, last, device, a, 0, tid, b""))
                else:
                    last += word >> 32 & 0xffffffff
                    a = high << 38 | (word >> 64 & 0x3ffffffff) << 4
                    append((ALLOC, kind, hook, word >> 8 & 0xffffff, last, device, a, context << 48 | word >> 98, tid, b""))
                self.short += 1
            elif kind_of < 0x80:
                size = FIXED.get(kind_of)
                if size and at + size > end and end < offset + CHUNK:
                    return  # the file was cut off here
                if size is None or at + size > end:
                    raise ValueError(f"offset {at}: record type {kind_of:#x}")
                if size == 24:
                    t, kind, hook, high, when, a = struct.unpack_from("<BBHIQQ", data, at)
                    b = 0
                else:
                    t, kind, hook, high, when, a, b = EVENT.unpack_from(data, at)
                append((t, kind, hook, high, when & 0xffffffffffffff, when >> 56, a, b, tid, data[at + 32:at + size]))
                if t in (ALLOC, FREE):
                    last = when & 0xffffffffffffff
            else:
                t, kind, hook, size = struct.unpack_from("<BBHI", data, at)
                if 16 <= size <= 8192 and at + size > end and end < offset + CHUNK:
                    return
                # Types unknown to this file also have a length.
                if t < 0x80 or size % 8 or not 16 <= size <= 8192 or at + size > end:
                    raise ValueError(f"offset {at}: record type {t:#x} of {size} bytes")
                body = data[at + 8:at + size]
                if t == TEMPLATE:
                    *fields, slot = struct.unpack_from("<BBHHHI", body)
                    templates[slot] = fields
                if t == SHORT_STACK:
                    count, = struct.unpack_from("<H", body, 4)
                    fresh = 8 + (2 * count + 7) // 8 * 8
                    words = []
                    for index in struct.unpack_from(f"<{count}H", body, 8):
                        if index & 0x8000:
                            frames[index & 0x7fff] = body[fresh:fresh + 8]
                            fresh += 8
                        words.append(frames[index & 0x7fff])  # KeyError: one that is not there
                    if fresh != len(body):
                        raise ValueError(f"offset {at}: a short stack of {size} bytes, of which {fresh + 8} are used")
                    t, body = STACK, body[:8] + b"".join(words)
                    self.short += 1
                if t == THREAD:
                    tid = struct.unpack_from("<I", body)[0]
                append((t, kind, hook, size, 0, 0, 0, 0, tid, body))
            at += size

    def of(self, *types):
        return [r for r in self.records if r[0] in types]

    def count(self, kind_of):
        return sum(1 for r in self.records if r[0] == kind_of)

    def replay(self):
        """Events in the order of time, a free before an allocation of the same tick. Returns ({(space, address):
        record}, faults): faults are allocations at a live address, and frees of an address that is not live."""
        order = {FREE: 0, BULK: 0, ALLOC: 1}
        events = sorted((r for r in self.records if r[0] in order), key=lambda r: (r[4], order[r[0]]))
        live, faults = {}, []
        for r in events:
            if r[0] == BULK:
                context, teardown = r[6] & 0xffffffff, r[6] >> 32
                if not teardown:
                    for key in [k for k, a in live.items() if a[7] >> 48 == context and a[1] in OWNED_BY_CONTEXT]:
                        del live[key]
                continue
            key = (SPACES.get(r[1], 0), r[6])
            if r[0] == ALLOC:
                if key in live:
                    faults.append(("allocated twice", r))
                live[key] = r
            elif live.pop(key, None) is None:
                faults.append(("freed, not live", r))
        return live, faults

    def live_bytes(self, kinds=(1, 3, 5, 7, 8, 11)):
        """Bytes of device memory live at the end (other `kinds`: theirs)."""
        return sum(r[7] & 0xffffffffffff for r in self.replay()[0].values() if r[1] in kinds)

    def stacks(self):
        """{number: [frame words]}, innermost first; the last may refer to the stack of a waiting thread."""
        found = {}
        for r in self.of(STACK):
            number, frames, _ = struct.unpack_from("<IHH", r[9])
            stack = list(struct.unpack_from(f"<{frames}Q", r[9], 8))
            # Several threads may write the same new stack.
            if found.setdefault(number, stack) != stack:
                raise ValueError(f"stack {number} is written twice, differently")
        return found

    def modules(self):
        """[(ticks, start, end, bias, path)] in the order of the file."""
        found = []
        for r in self.of(MODULE):
            ticks, start, end, bias, id_bytes, path_bytes = struct.unpack_from("<4QII", r[9])
            found.append((ticks, start, end, bias, r[9][40 + id_bytes:40 + id_bytes + path_bytes].decode()))
        return found

    def notes(self):
        return [r[9][8:8 + struct.unpack_from("<I", r[9])[0]].decode() for r in self.of(NOTE)]

    def snapshots(self):
        """[{"number", "why", "ticks", "objects", "looked_for", "owned", "partial", "in_place", "copied", "owners": {(space, address): [(path, role
        bits, holders)]}, "seen": likewise, what no owner has, "parts": {(space, address): bytes that tensors see, if less than half}}]; of each allocation its owner first. A path is as in `model.layers[*] -> Tensor`, with types after
        arrows where a step has no name, and "~" after a step that repeats."""
        steps, owners, found, no_owners, parts = {}, ({}, {}), [], set(), {}
        for r in self.of(STEP, OWNED, SNAPSHOT):
            if r[0] == STEP:
                number, parent, kind, flags, _, _, name_bytes, type_bytes = struct.unpack_from("<IIHHIQII", r[9])
                name = "*" if flags & 1 else r[9][32:32 + name_bytes].decode()
                type_of = r[9][32 + name_bytes:32 + name_bytes + type_bytes].decode()
                if kind in (9, 10) or parent in no_owners:
                    no_owners.add(number)
                step = {17: f"[{name}]", 18: f"[{name}]", 19: "{*}", 23: f" -> {type_of}"}.get(kind, f".{name}")
                steps[number] = (steps[parent] + step if parent else name) + ("~" if flags & 2 else "")
            elif r[0] == OWNED:
                snapshot, count = struct.unpack_from("<II", r[9])
                for i in range(count):
                    entry, step, roles, holders = struct.unpack_from("<QIHH", r[9], 8 + 16 * i)
                    at = (entry >> 61, entry & (1 << 61) - 1)
                    if step:
                        owners[step in no_owners].setdefault(snapshot, {}).setdefault(at, []).append((steps[step], roles, holders))
                    else:
                        parts.setdefault(snapshot, {})[at] = (roles << 16 | holders) * 512
            else:
                number, why, ticks, _, objects, looked_for, owned, flags, _, copy_us, _ = struct.unpack_from("<IIQQQ6I", r[9])
                found.append({"number": number, "why": why, "ticks": ticks, "objects": objects, "looked_for": looked_for, "owned": owned,
                              "partial": bool(flags & 1), "in_place": bool(flags & 2), "copied": copy_us > 0,
                              "owners": owners[0].get(number, {}), "seen": owners[1].get(number, {}), "parts": parts.get(number, {})})
        return sorted(found, key=lambda one: one["number"])  # in the file they stand by threads

    def missed(self):
        """Missed snapshots: [(why, reason, bytes needed, bytes available)]."""
        fields = [struct.unpack_from("<IIQQQ", r[9]) for r in self.of(MISSED)]
        return [(why, REASONS[reason], needed, room) for why, reason, _, needed, room in fields]


if __name__ == "__main__":
    print(eval(sys.argv[2], dict(globals(), log=Log(sys.argv[1]))))
