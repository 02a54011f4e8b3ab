# SPDX-License-Identifier: MIT
"""Twelve programs that train or infer, for tests/frameworks/run_fit: what PyTorch's allocator needs for them, on any card
and with any setting, is compared with what `vramtrace fit` says from one recording.

    programs.py NAME [SCALE]

SCALE multiplies the batch. What a program asks for never depends on data, time or the allocator's answers: an
out-of-memory error ends it. On the simulated GPU kernels do not run, so tensors are made by kernels where they can be: pages
that nothing copies to cost no memory of this machine."""

import contextlib
import copy
import random
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20


def floats(*shape, **options):
    return torch.empty(*shape, device="cuda", **options).normal_()


class Block(nn.Module):
    """A layer of a transformer, with the attention's scores in memory."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5, dim=-1)
        x = x + self.out((scores @ value).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norms[1](x))))


def transformer(layers, width, heads):
    return nn.Sequential(*(Block(width, heads) for _ in range(layers))).cuda()


def perceptron(layers, width):
    return nn.Sequential(*(layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.GELU()))).cuda()


def lengths(scale):
    """Trains on sentences of any length: the batch's shape is another one in each step."""
    draw, model = random.Random(1), transformer(4, 256, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(25):
        tokens = floats(24 * scale, draw.randrange(32, 384), 256)
        model(tokens).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def streams(scale):
    """A second stream brings the next batch while the first computes."""
    draw, model, side = random.Random(2), perceptron(6, 1024), torch.cuda.Stream()
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
    main = torch.cuda.current_stream()

    def fetch():
        with torch.cuda.stream(side):
            raw = floats(scale * draw.choice((2048, 3072, 4096, 7168)), 1024)
            return raw * 0.5 + 1

    batch = fetch()
    for _ in range(20):
        main.wait_stream(side)
        now, batch = batch, fetch()
        now.record_stream(main)
        model(now).mean().backward()
        del now
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def graphs(scale):
    """A server with a captured graph for each batch size, in one pool, and requests of other sizes beside them."""
    draw, model = random.Random(3), transformer(3, 512, 8).eval().requires_grad_(False)
    pool, graphs, static = torch.cuda.graph_pool_handle(), {}, {}
    warm = torch.cuda.Stream()
    for batch in (16, 8, 4, 1):
        static[batch] = floats(2 * batch * scale, 256, 512)
        warm.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm):
            model(static[batch])
        torch.cuda.current_stream().wait_stream(warm)
        graphs[batch] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[batch], pool=pool):
            static[batch, "out"] = model(static[batch])
    answers = []
    for step in range(40):
        if step % 3:
            batch = draw.choice((16, 8, 4, 1))
            static[batch].normal_()
            graphs[batch].replay()
            answers.append(static[batch, "out"] + 0)
        else:
            answers.append(model(floats(draw.randrange(4, 40) * scale, 192, 512)).sum(dim=1))
        answers = answers[-6:]
        if step == 20:
            graphs.clear()
            static = {key: value for key, value in static.items() if key == 4 or key == 8}
            with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
                kept = [floats(scale * 3, MIB) for _ in range(5)]
            graphs[4], graphs[8] = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
            for batch in (4, 8):
                with torch.cuda.graph(graphs[batch]):
                    static[batch, "out"] = model(static[batch])
            static |= {(batch, "out"): static[4, "out"] for batch in (1, 16)}
            static |= {batch: static[4] for batch in (1, 16)}
            graphs |= {batch: graphs[4] for batch in (1, 16)}
            del kept[1:3]


@torch.inference_mode()
def generation(scale):
    """Sessions of different lengths grow by a token a step: keys and values are joined anew."""
    draw, layers = random.Random(4), 6
    model = [nn.Linear(1024, 3 * 1024, device="cuda", dtype=torch.float16) for _ in range(layers)]
    sessions = {}
    for step in range(160):
        if step % 20 == 0:
            if len(sessions) == 4:
                del sessions[min(sessions)]
            prompt = floats(scale * 6, draw.randrange(200, 1800), 1024, dtype=torch.float16)
            sessions[step] = []
            for layer in model:
                query, key, value = layer(prompt).chunk(3, dim=-1)
                scores = torch.softmax(query @ key.transpose(-1, -2), dim=-1)
                sessions[step].append((key.contiguous(), value.contiguous()))
                prompt = scores @ value
            del query, key, value, scores, prompt
        for name, cache in sessions.items():
            token = floats(scale * 6, 1, 1024, dtype=torch.float16)
            for number, layer in enumerate(model):
                query, key, value = layer(token).chunk(3, dim=-1)
                keys, values = cache[number]
                keys, values = torch.cat((keys, key), dim=1), torch.cat((values, value), dim=1)
                cache[number] = keys, values
                token = torch.softmax(query @ keys.transpose(-1, -2), dim=-1) @ values


def growth(scale):
    """Keeps each step's loss with its graph, every third one."""
    model, kept = perceptron(5, 512), []
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(60):
        loss = model(floats(3072 * scale, 512)).square().mean(dim=1).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            kept.append(loss)
        del loss


def fragmenting(scale):
    """Long-lived results lie between short-lived buffers that are larger each time: no hole is ever large enough."""
    draw, kept = random.Random(6), []
    for step in range(60):
        work = [floats(scale * (24 + step // 2) * MIB // 4) for _ in range(3)]
        kept.append(floats(scale * draw.randrange(2, 9) * MIB // 4))
        work.append(floats(scale * (31 + step) * MIB // 4))
        kept.append(floats(scale * draw.randrange(11, 15) * MIB // 8))
        del work
        if step % 4 == 3:
            del kept[:: 5]


def buckets(scale):
    """DistributedDataParallel: gradients are views of its buckets, made anew after the first step. Nothing is sent: threads
    of the other backends let go of their tensors when they come to it, and two runs would not need the same."""
    import torch.testing._internal.distributed.fake_pg  # registers the backend

    torch.distributed.init_process_group("fake", rank=0, world_size=4)
    with contextlib.ExitStack() as stack:
        stack.callback(torch.distributed.destroy_process_group)
        model = nn.parallel.DistributedDataParallel(transformer(4, 512, 8), device_ids=[0], bucket_cap_mb=10,
                                                    gradient_as_bucket_view=True)

        def alone(_, bucket):
            done = torch.futures.Future()
            done.set_result(bucket.buffer() / 4)
            return done

        model.register_comm_hook(None, alone)
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(12):
            with model.no_sync() if step % 2 == 0 else contextlib.nullcontext():
                model(floats(12 * scale, 128, 512)).square().mean().backward()
            if step % 2:
                optimizer.step()
                optimizer.zero_grad()
        del model, optimizer


def checkpointing(scale):
    """Activations are computed again in the backward pass; mixed precision."""
    model = transformer(8, 384, 6)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(10):
        x = floats(20 * scale, 256, 384).requires_grad_()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            for number, block in enumerate(model):
                x = checkpoint(block, x, use_reentrant=False) if number % 4 != step % 4 else block(x)
        x.float().square().mean().backward()
        del x
        optimizer.step()
        optimizer.zero_grad()


def ema(scale):
    """A slow copy of the weights beside the model; both are evaluated now and then."""
    model = perceptron(8, 1024)
    slow = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), amsgrad=True)
    for step in range(24):
        model(floats(4096 * scale, 1024)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            torch._foreach_lerp_(list(slow.parameters()), list(model.parameters()), 0.01)
            if step % 6 == 5:
                for which in (model, slow):
                    sum(which(floats((4096 + 512 * step) * scale, 1024)).mean() for _ in range(2))


def mixed(scale):
    """Tensors of 1 KiB to 180 MiB that live for any while."""
    draw, live = random.Random(10), []
    for step in range(900):
        size = int(2 ** draw.uniform(10, 27.5 if step % 5 == 0 else 23))
        live.append((step + int(draw.expovariate(1 / 40)), floats(scale * size // 4)))
        live = [(until, tensor) for until, tensor in live if until > step]
        if step % 300 == 299:
            torch.cuda.empty_cache()


def views(scale):
    """Small views keep the whole of what they were taken from, for some steps."""
    draw, model, kept = random.Random(11), perceptron(3, 768), []
    for step in range(60):
        with torch.no_grad():
            hidden = model(floats(draw.randrange(5000, 18000) * scale, 768))
        kept.append(hidden[: 8])
        kept.append(hidden.view(-1, 96)[5])
        if step % 7 == 6:
            kept = [kept[number] for number in sorted(draw.sample(range(len(kept)), 6))]
        kept = kept[-16:]
        del hidden


def curriculum(scale):
    """Images become larger from stage to stage, and batches smaller; the cache is emptied between stages."""
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1, stride=2),
                          nn.ReLU(), nn.Conv2d(64, 128, 3, padding=1, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                          nn.Linear(128 * 16, 256)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
    for side, batch in ((64, 64), (96, 40), (128, 24), (160, 18), (192, 14), (256, 8)):
        for step in range(4):
            model(floats((batch - step) * 3 * scale, 3, side, side)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        if side in (96, 160):
            torch.cuda.empty_cache()


PROGRAMS = {program.__name__: program for program in (lengths, streams, graphs, generation, growth, fragmenting, buckets,
                                                      checkpointing, ema, mixed, views, curriculum)}


def main():
    torch.manual_seed(0)
    PROGRAMS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 1)


if __name__ == "__main__":
    main()
