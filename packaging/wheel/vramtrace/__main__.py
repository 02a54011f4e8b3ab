# SPDX-License-Identifier: MIT
"""`vramtrace`, and `python -m vramtrace`: becomes the command, a separate program."""

import os
import signal
import sys

from vramtrace import command


def main():
    # Python ignores these signals; the command, and the program that it traces, must not.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    # In the C locale Python sets this for its children.
    if os.environ.get("LC_CTYPE") and not was_set(b"LC_CTYPE"):
        del os.environ["LC_CTYPE"]
    try:
        os.execv(command(), ["vramtrace", *sys.argv[1:]])
    except OSError as fault:
        print(f"vramtrace: cannot start {command()}: {fault.strerror}", file=sys.stderr)
        return 126
    return 0


def was_set(name):
    """Whether this process was started with that variable."""
    try:
        with open("/proc/self/environ", "rb") as file:
            return any(word.startswith(name + b"=") for word in file.read().split(b"\0"))
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main())
