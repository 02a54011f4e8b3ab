# SPDX-License-Identifier: MIT
"""The same as scenes.py with what takes long to import or to set up: DDP, torch.compile, transformers, accelerate."""

import importlib.util
import os
import sys

import torch
from look import DEVICE, look, play, scene, storages
from torch import nn


def net(width=64):
    return nn.Sequential(nn.Linear(width, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, width)).to(DEVICE)


@scene
def ddp():
    """A reducer's buckets are in C++, whose layout is not known: they have no owner, unless they are gradients."""
    import torch.distributed as dist
    os.environ.update(RANK="0", WORLD_SIZE="1")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    plain = nn.parallel.DistributedDataParallel(net())
    views = nn.parallel.DistributedDataParallel(net(), gradient_as_bucket_view=True)
    for model in plain, views:
        model(torch.randn(16, 64, device=DEVICE)).sum().backward()
    del model
    buckets = 512 * -(-sum(p.numel() for p in plain.parameters()) * 4 // 512)
    look("ddp", {"plain": plain, "views": views}, left=buckets)
    dist.destroy_process_group()


@scene
def compiled():
    model = net()
    made = torch.compile(model, backend="aot_eager")
    out = made(torch.randn(16, 64, device=DEVICE))
    loss = out.pow(2).mean()
    loss.backward(retain_graph=True)
    look("compiled", {"model": model}, graphs={"loss": loss, "out": out}, out=out, loss=loss)


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
