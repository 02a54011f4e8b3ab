# SPDX-License-Identifier: MIT
# OWNER scratch (default argument of fill) in module __main__: 64 KiB
# OWNER scratch (default argument of Filler.fill) in module __main__: 128 KiB
"""Keyword-only defaults, of a function and of a method."""

from simgpu import KIB, Buffer


def fill(value, *, scratch=Buffer(64 * KIB)):
    return value, scratch


class Filler:
    def fill(self, value, *, scratch=Buffer(128 * KIB)):
        return value, scratch
