# SPDX-License-Identifier: MIT
"""What the scenes share: look() asks for a snapshot and prints what PyTorch itself says of the memory at that moment. Each
line of the answer has a scene's name, torch.cuda.memory_allocated(), and for each storage its role and the names that its
author may call it by."""

import ctypes
import gc
import json
import re

import torch

DEVICE = "cuda"
tracer = ctypes.CDLL(None)
PRIORITY = ["parameters", "gradients", "optimizer", "buffers", "activations", "other"]


def parts(tensor):
    """The tensors that have storages of their own."""
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout is torch.jagged:
        return [tensor.values(), tensor.offsets()]
    if hasattr(tensor, "_local_tensor"):
        return [tensor._local_tensor]
    return [tensor]


def tensors_in(value):
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        for item in value:
            yield from tensors_in(item)


def storages(value):
    """Addresses of the distinct storages on the device; a set has them already."""
    if isinstance(value, set):
        return value
    found = {part.untyped_storage().data_ptr() for tensor in tensors_in(value) if tensor.is_cuda for part in parts(tensor)}
    return found - {0}


def saved(root):
    """Tensors that the nodes of a graph saved."""
    found, seen, nodes = [], set(), [root.grad_fn]
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        nodes += [following for following, _ in node.next_functions]
        for name in dir(node):
            try:
                if name.startswith("_saved_") or name == "saved_tensors":
                    found += tensors_in(getattr(node, name))
            except RuntimeError:  # a parameter that was updated since
                pass
    return found


def author(root, name):
    """How a module's parameter is called in a program: model[*].weight. Indices are one."""
    return root + re.sub(r"\.\d+", "[*]", "." + name)


def blocks():
    """Addresses and sizes of all that PyTorch has given out."""
    return [(block["address"], block["size"]) for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]
            if block["state"] == "active_allocated"]


def clear_workspaces():
    """What cuBLAS works with was in blocks of PyTorch once, kept by C++ alone."""
    if hasattr(torch._C, "_cuda_clearCublasWorkspaces"):
        torch._C._cuda_clearCublasWorkspaces()


class Expected:
    def __init__(self):
        self.of = {}  # storage -> {role: names}

    def add(self, role, name, value):
        for storage in storages(value):
            self.of.setdefault(storage, {}).setdefault(role, set()).add(name)

    def add_model(self, name, model):
        for kind, named in ("parameters", model.named_parameters), ("buffers", model.named_buffers):
            for inner, tensor in named(remove_duplicate=False):
                self.add(kind, author(name, inner), tensor)
                if tensor.grad is not None:
                    self.add("gradients", author(name, inner), tensor.grad)

    def add_optimizer(self, name, optimizer):
        for state in optimizer.state.values():
            for key, value in state.items():
                self.add("optimizer", f"{name}.state[*]['{key}']", value)

    def lines(self):
        for storage, roles in self.of.items():
            role = next(r for r in PRIORITY if r in roles)
            yield {"storage": storage, "role": role, "seen": sorted(roles), "names": sorted(set().union(*roles.values()))}


def look(scene, models=None, optimizers=None, graphs=None, kept=None, roles=None, late=False, left=0, **variables):
    """Each of the first three: {variable: object}; a graph's is a tensor, or several. `kept`: {name: tensors} that no variable is called by; `roles`: {role:
    {name: tensors}}. `left`: bytes for which there is no name. `late`: only seen when the walk comes to its end."""
    clear_workspaces()
    expected = Expected()
    for name, model in (models or {}).items():
        expected.add_model(name, model)
    for name, optimizer in (optimizers or {}).items():
        expected.add_optimizer(name, optimizer)
    for name, tensor in (graphs or {}).items():
        expected.add("activations", name, [value for root in tensors_in(tensor) for value in saved(root)])
    for role, named in (roles or {}).items():
        for name, value in named.items():
            expected.add(role, name, value)
    for name, value in {**(kept or {}), **variables}.items():
        expected.add("other", name, value)
    line = {"scene": scene, "allocated": torch.cuda.memory_allocated(), "late": late, "left": left,
            "storages": list(expected.lines())}
    # Nothing here may hold what is looked for.
    model = optimizer = tensor = value = named = None
    models = optimizers = graphs = kept = roles = variables = None
    if not tracer.vramtrace_v1_snapshot(scene.encode()):
        line["error"] = "no snapshot"
    print(json.dumps(line), flush=True)


scenes = []


def scene(function):
    scenes.append(function)
    return function


def play(wanted):
    for function in scenes:
        if wanted and function.__name__ not in wanted:
            continue
        function()
        gc.collect()
        clear_workspaces()
        if torch.cuda.memory_allocated() and function is not scenes[-1]:
            print(json.dumps({"scene": function.__name__, "error": f"{torch.cuda.memory_allocated()} bytes are left"}))
