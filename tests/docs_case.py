# SPDX-License-Identifier: MIT
"""Shared by the cases about documents."""

import pathlib

import docs
import docs_words
import lib


def run(*patterns):
    """Checks the matching documents; fails the case with all their faults."""
    files = [file for pattern in patterns for file in sorted(pathlib.Path(lib.SRC).glob(pattern))]
    if not files:
        lib.skip(f"no document is called {' or '.join(patterns)}")
    docs_words.use(lib.VRAMTRACE)
    faults = docs_words.check(files) + docs.check(files, pathlib.Path(lib.BUILD))
    lib.check(not faults, "\n".join(faults))
