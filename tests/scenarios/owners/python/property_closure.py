# SPDX-License-Identifier: MIT
# OWNER answer[0] (closure of Model.features.fget) in module __main__: 64 KiB
"""A property whose getter keeps its answer in a closure."""

from simgpu import KIB, Buffer


def lazy(make):
    answer = []

    def get(self):
        if not answer:
            answer.append(make(self))
        return answer[0]

    return property(get)


class Model:
    @lazy
    def features(self):
        return Buffer(64 * KIB)


print(Model().features.pointer > 0)
