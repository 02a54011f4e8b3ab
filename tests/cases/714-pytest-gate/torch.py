# SPDX-License-Identifier: MIT
"""As much of PyTorch as the tests here and the pytest plugin use, on the stand-in allocator."""

import types

import standin


class Tensor(standin.Tensor):
    is_cuda, is_leaf, grad = True, True, None

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.address)


class Module:
    def children(self):
        return [value for value in vars(self).values() if isinstance(value, Module)]


def rand(size):
    return Tensor(size)


cuda = types.SimpleNamespace(
    is_initialized=lambda: True, synchronize=lambda: None, empty_cache=standin.empty_cache, device_count=lambda: 1,
    memory_allocated=lambda device: standin.stats(device)["allocated"],
    memory_reserved=lambda device: standin.stats(device)["reserved"])
nn = types.SimpleNamespace(Module=Module)
optim = types.SimpleNamespace(Optimizer=type("Optimizer", (), {}))
