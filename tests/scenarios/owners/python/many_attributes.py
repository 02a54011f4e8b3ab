# SPDX-License-Identifier: MIT
# OWNER state.field_3 in module __main__: 64 KiB
# OWNER state.field_39 in module __main__: 128 KiB
"""An object with more attributes than are stored inside it."""

from simgpu import KIB, Buffer


class State:
    pass


state = State()
for number in range(40):
    setattr(state, f"field_{number}", number)
state.field_3 = Buffer(64 * KIB)
state.field_39 = Buffer(128 * KIB)
