# SPDX-License-Identifier: MIT
"""All that a program has is main's, and goes when that returns, as a bank of features does; or the bank is a generation's."""

from simgpu import KIB, MIB, Buffer, leaking, work


def append(size):
    return Buffer(size)  # LEAK


def generate():
    mask = Buffer(16 * KIB)
    bank = None
    for token in range(40):
        bank = append((token + 1) * 16 * KIB)
        work()
    return mask.owner


def main():
    model = Buffer(8 * MIB)
    bank = None
    if not leaking:
        return generate()
    for step in range(40):
        bank = append((step + 1) * 16 * KIB)
        work()
    return bank.owner and model.owner


main()
