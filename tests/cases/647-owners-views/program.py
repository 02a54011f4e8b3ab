# SPDX-License-Identifier: MIT
"""Views as people keep them. Prints how many bytes of a variable's storages the tensors see that hold them, each in units of
512: none where that is half or more, or where something else holds them, too."""

import json

import torch

N = 1 << 18
expected = {}


def new(**options):
    return torch.zeros(64, N // 64, device="cuda", **options)


def expect(name, bytes):
    expected[name] = bytes


class Holder:
    pass


# --- parts, and nothing else ---
row = new()[0]
expect("row", N // 64 * 4)
column = new()[:, -1]
expect("column", 512)
number = new().view(-1)[5]
expect("number", 512)
halves = new(dtype=torch.bfloat16)[:, :100]
expect("halves", 12800)
eighth = new(dtype=torch.int64).view(4, 4, 4, -1)[0, 0]
expect("eighth", N // 16 * 8)
of_view = new()[:32][3][7:]
less = new()[:31]
expect("less", N // 64 * 31 * 4)
expect("of_view", N // 64 * 4)
detached = new().requires_grad_()[2].detach()
expect("detached", N // 64 * 4)
with torch.no_grad():
    without_grad = new()[2]
expect("without_grad", N // 64 * 4)
with torch.inference_mode():
    inferred = new()[2]
expect("inferred", N // 64 * 4)
two = [row_ for row_ in new()[:2]]
expect("two", 2 * N // 64 * 4)
kept = Holder()
kept.part = new().t()[3]
expect("kept", 512)
saved = new()[3]
product = saved * torch.ones(N // 64, device="cuda", requires_grad=True)
expect("saved", N // 64 * 4)
typed = new().view(torch.uint8)[0]
expect("typed", N // 64 * 4)

# --- the whole, or nearly, by one or by many ---
whole = new()
expect("whole", None)
reshaped = new().view(-1)
expect("reshaped", None)
chunks = list(new().chunk(4))
expect("chunks", None)
expanded = new()[0].expand(64, N // 64)
expect("expanded", None)
scalar = torch.zeros((), device="cuda")
expect("scalar", None)
short = torch.zeros(3, device="cuda")
expect("short", None)
half = new()[32:]
expect("half", None)
unsplit = torch.zeros((1 << 20) + 1, dtype=torch.uint8, device="cuda")  # perhaps in a block of 2 MiB
expect("unsplit", None)

# --- the base is held as well ---
base = new()
part = base[0]
expect("base", None)
model = torch.nn.Linear(512, 512, device="cuda")
weights = model.weight[0]
expect("model", None)
inside = [new()]
part_of_inside = inside[0][3]  # the shorter name
expect("part_of_inside", None)
aliased = new()
alias = aliased.detach()[0]
expect("aliased", None)
storage_of = new()
storage = storage_of.untyped_storage()
storage_of = storage_of[0]
expect("storage", None)


def makes_frame():
    local = new()
    part = local[0]
    yield part
    local.sum()


running = makes_frame()
yielded = next(running)
expect("yielded", None)
learned = new(requires_grad=True)[2]  # the graph has it
expect("learned", None)

torch.cuda.synchronize()
print(json.dumps(expected))
