# SPDX-License-Identifier: MIT
"""The simulated driver's own record of a program's allocations (VRAMTRACE_SIM_JOURNAL), compared with the tracer's."""

import lib

DEVICE_KINDS = range(0, 5)  # tests/sim/sim.h: LINEAR .. GRAPH


def check(path, found):
    """Fails unless the journal and the process of a report agree on every allocation of device memory."""
    allocs, frees = {}, {}
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, device, count, size = map(int, line.split())
            if kind in DEVICE_KINDS:
                (allocs if count > 0 else frees).setdefault(device, []).append(abs(size))
    lib.check(allocs, f"{path}: the driver gave out no device memory")
    devices = {device["device"]: device for device in found["devices"]}
    for ordinal, sizes in sorted(allocs.items()):
        device, freed = devices.get(ordinal), frees.get(ordinal, [])
        lib.check(device is not None, f"device {ordinal} is not in the report")
        lib.eq(f"device {ordinal}: allocations", len(sizes), device["alloc_count"])
        lib.eq(f"device {ordinal}: bytes allocated", sum(sizes), device["allocated_bytes"])
        lib.eq(f"device {ordinal}: frees", len(freed), device["free_count"])
        lib.eq(f"device {ordinal}: bytes live at the end", sum(sizes) - sum(freed), device["live_bytes"])
    return sum(map(len, allocs.values()))
