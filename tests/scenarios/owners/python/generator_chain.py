# SPDX-License-Identifier: MIT
# OWNER page (local of source) in module __main__: 128 KiB
"""A generator that reads from another."""

from simgpu import KIB, Buffer


def pages():
    while True:
        page = Buffer(128 * KIB)
        yield page.pointer % 1000


def cut(source):
    for page in source:
        yield page % 7


stream = cut(pages())
next(stream)
