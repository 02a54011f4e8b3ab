# SPDX-License-Identifier: MIT
"""The same as scenes.py with what takes long to import or to set up: DDP, torch.compile, transformers, accelerate."""

import importlib.util
import os
import sys
from typing import Dict, List, Tuple

import torch
from look import DEVICE, blocks, look, play, scene, storages
from torch import nn


def net(width=64):
    return nn.Sequential(nn.Linear(width, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, width)).to(DEVICE)


def distributed():
    import torch.distributed as dist
    if not dist.is_initialized():
        os.environ.update(RANK="0", WORLD_SIZE="1")
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return dist


@scene
def ddp():
    """A reducer keeps the gradients once more, in flat buckets; or they are views of these."""
    distributed()
    at = {"plain": set(), "views": set(), "unused": set()}

    def wrapped(name, steps, **options):
        model = nn.parallel.DistributedDataParallel(net(), bucket_cap_mb=.02, **options)

        def noted(_, bucket):
            at[name].add(bucket.buffer().untyped_storage().data_ptr())
            future = torch.futures.Future()
            future.set_result(bucket.buffer())
            return future

        model.register_comm_hook(None, noted)
        for _ in range(steps):
            at[name].clear()  # the second step makes other buckets
            model(torch.randn(16, 64, device=DEVICE)).sum().backward()
        return model

    plain = wrapped("plain", 3)
    views = wrapped("views", 1, gradient_as_bucket_view=True)
    unused = wrapped("unused", 2, find_unused_parameters=True)
    before = {address for address, _ in blocks()}
    first = nn.parallel.DistributedDataParallel(net())
    own = {p.untyped_storage().data_ptr() for p in [*first.parameters(), *first.buffers()]}
    at["first"] = {address for address, bytes in blocks() if bytes > 65536} - before - own
    assert len(at["first"]) == 1 and len(at["plain"]) > 1, at
    look("ddp", {"plain": plain, "views": views, "unused": unused, "first": first},
         roles={"gradients": {f"{name}.reducer": buckets for name, buckets in at.items()}}, left=512)


@scene
def compiled():
    model = net()
    made = torch.compile(model, backend="aot_eager")
    out = made(torch.randn(16, 64, device=DEVICE))
    loss = out.pow(2).mean()
    loss.backward(retain_graph=True)
    look("compiled", {"model": model}, graphs={"loss": loss, "out": out}, out=out, loss=loss)


@scene
def collectives():
    """What a collective sends is the caller's no more, but not done yet; what a future has may be of C++ alone."""
    dist = distributed()
    at, works = set(), []
    for _ in range(3):
        sent = torch.ones(1000, device=DEVICE)
        at |= storages(sent)
        works.append(dist.all_reduce(sent, async_op=True))
        works.append(dist.all_gather([torch.ones(1000, device=DEVICE)], sent, async_op=True))
    del sent
    gathered = {address for address, _ in blocks()} - at
    future = torch.futures.Future()
    future.set_result(torch.ones(500, device=DEVICE))
    look("collectives", kept={"works[*]": at | gathered, "future": storages(future.value())})
    for work in works:
        work.wait()


@scene
def sharded():
    """A parameter is a tensor without memory, which stands for another one."""
    distributed()
    from torch.distributed.fsdp import fully_shard
    model = fully_shard(net())
    opt = torch.optim.AdamW(model.parameters())
    loss = model(torch.randn(16, 64, device=DEVICE)).sum()
    loss.backward()
    opt.step()
    look("sharded", {"model": model}, {"opt": opt}, loss=loss)


@scene
def scripted():
    """A module's parameters are in C++ alone."""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.big = net(), torch.randn(64, 64, device=DEVICE)
            self.register_buffer("mask", torch.randn(64, device=DEVICE))

        def forward(self, x):
            return self.layers(x) @ self.big * self.mask

    model = torch.jit.script(Model().to(DEVICE))
    opt = torch.optim.Adam(model.parameters())
    loss = model(torch.randn(16, 64, device=DEVICE)).sum()
    loss.backward()
    opt.step()
    traced = torch.jit.trace(net().eval(), torch.randn(16, 64, device=DEVICE), check_trace=False)
    example = 512 * 8  # the trace keeps it, in C++
    look("scripted", {"model": model, "traced": traced}, {"opt": opt}, loss=loss, kept={"model.big": model.big}, left=example)


class Keeper(nn.Module):
    """Each of its values is kept in C++ alone."""
    history: List[torch.Tensor]
    table: Dict[str, torch.Tensor]
    numbered: Dict[int, List[torch.Tensor]]
    pairs: List[Tuple[torch.Tensor, int]]
    many: Tuple[int, int, int, torch.Tensor]

    def __init__(self):
        super().__init__()
        self.history, self.table, self.numbered, self.pairs = [], {}, {}, []
        self.many = (1, 2, 3, torch.zeros(1))

    def forward(self, x):
        self.history.append(x + 1)
        self.history.append(x + 2)
        self.table["last"] = x + 3
        self.numbered[7] = [x + 4]
        self.pairs.append((x + 5, 1))
        self.many = (1, 2, 3, x + 6)
        return x + 7


@scene
def script_values():
    model = torch.jit.script(Keeper())
    with torch.no_grad():
        model(torch.randn(16, 64, device=DEVICE))
    listed = torch.jit.script([torch.randn(64, device=DEVICE) for _ in range(2)])
    named = torch.jit.script({"a": torch.randn(64, device=DEVICE)})
    kept = {"model.history[*]": model.history, "model.table['last']": model.table["last"], "model.many[*]": model.many[3],
            "model.numbered[*][*]": model.numbered[7], "model.pairs[*][*]": [pair[0] for pair in model.pairs],
            "listed[*]": [listed[0], listed[1]], "named['a']": named["a"]}
    look("script_values", kept={name: storages(value) for name, value in kept.items()})


if importlib.util.find_spec("transformers"):

    @scene
    def kv_cache():
        import transformers
        config = transformers.LlamaConfig(vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                          num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
        model = transformers.LlamaForCausalLM(config).to(DEVICE).eval()
        with torch.no_grad():
            out = model(torch.randint(0, 128, (2, 8), device=DEVICE), use_cache=True)
        past, logits = out.past_key_values, out.logits
        del out
        look("kv_cache", {"model": model}, logits=logits,
             kept={"past.layers[*].keys": storages([layer.keys for layer in past.layers]),
                   "past.layers[*].values": storages([layer.values for layer in past.layers])})


if importlib.util.find_spec("accelerate"):

    @scene
    def accelerated():
        import accelerate
        accelerator, model = accelerate.Accelerator(), net()
        model, opt = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
        loss = model(torch.randn(16, 64, device=accelerator.device)).sum()
        accelerator.backward(loss)
        opt.step()
        look("accelerated", {"model": model}, {"opt.optimizer": opt}, loss=loss)


if __name__ == "__main__":
    play(sys.argv[1:])
