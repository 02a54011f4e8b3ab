# SPDX-License-Identifier: MIT
"""The dependencies of an ELF file: its loader, libraries, and versions of the C library. For `pack`."""

import collections
import re
import struct

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian
MACHINES = {62: "x86_64", 183: "aarch64"}
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF

Needs = collections.namedtuple("Needs", "machine loader libraries glibc")  # glibc: a pair such as (2, 31); a library has no loader


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_needs(path):
    with open(path, "rb") as file:
        data = file.read()
    machine = MACHINES[struct.unpack_from("<H", data, 18)[0]]
    header, size, count = struct.unpack_from("<Q14xHH", data, 32)
    # For each segment: type, offset, address, bytes in the file.
    rows = [struct.unpack_from("<I4xQQ8xQ", data, header + i * size) for i in range(count)]
    loads = [(offset, address, length) for kind, offset, address, length in rows if kind == PT_LOAD]

    def offset_of(address):
        return next(offset + address - start for offset, start, length in loads if start <= address < start + length)

    tags = []
    for kind, offset, _, length in rows:
        if kind == PT_DYNAMIC:
            tags = list(struct.iter_unpack("<QQ", data[offset:offset + length]))
    first = dict(reversed(tags))
    strings = offset_of(first[DT_STRTAB]) if DT_STRTAB in first else 0

    def text(at):
        return data[strings + at:data.index(b"\0", strings + at)].decode()

    glibc = (2, 0)
    at = offset_of(first[DT_VERNEED]) if DT_VERNEED in first else 0
    for _ in range(first.get(DT_VERNEEDNUM, 0)):
        versions, entry, following = struct.unpack_from("<2xH4xII", data, at)
        entry += at
        for _ in range(versions):
            name, step = struct.unpack_from("<8xII", data, entry)
            found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", text(name))
            if found:
                glibc = max(glibc, (int(found[1]), int(found[2])))
            entry += step
        at += following
    loader = next((data[offset:offset + length].rstrip(b"\0").decode() for kind, offset, _, length in rows if kind == PT_INTERP), None)
    return Needs(machine, loader, [text(value) for tag, value in tags if tag == DT_NEEDED], glibc)
