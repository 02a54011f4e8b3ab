# SPDX-License-Identifier: MIT
# OWNER app.screens[*].image in module __main__: 2 x 64 KiB
"""A program with a main function, and one global."""

import sys

from simgpu import KIB, Buffer

app = None


class Screen:
    def __init__(self):
        self.image = Buffer(64 * KIB)


class App:
    def __init__(self):
        self.screens = []

    def run(self):
        local = Buffer(128 * KIB)
        self.screens += [Screen(), Screen()]
        return 0 if local else 1


def main():
    global app
    app = App()
    return app.run()


if __name__ == "__main__":
    sys.exit(main())
