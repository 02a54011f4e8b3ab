# SPDX-License-Identifier: MIT
# OWNER last[*] in module __main__: 2 x 64 KiB
# GONE history[*] in frame main: 40 x 64 KiB
"""Most of what main() held is gone; another name keeps the rest."""

from simgpu import KIB, Buffer


last = []


def main():
    history = []
    for _ in range(40):
        history.append(Buffer(64 * KIB))
    last.extend(history[-2:])


main()
