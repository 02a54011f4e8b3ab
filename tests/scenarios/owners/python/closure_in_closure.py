# SPDX-License-Identifier: MIT
# OWNER scratch (closure of inner) in module __main__: 256 KiB
"""A closure within a closure."""

from simgpu import KIB, Buffer


def outer():
    scratch = Buffer(256 * KIB)

    def inner():
        return scratch

    def run():
        return inner()

    return run


run = outer()
run()
