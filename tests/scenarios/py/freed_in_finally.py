# SPDX-License-Identifier: MIT
"""Everything is freed at the end of main, after it has grown for as long as the program ran."""

from simgpu import KIB, Buffer, leaking, work


def main():
    seen = []
    for _ in range(200):
        seen.append(Buffer(96 * KIB))  # LEAK
        work()
        if not leaking and len(seen) == 10:
            seen.clear()
    for buffer in seen:
        buffer.free()


main()
