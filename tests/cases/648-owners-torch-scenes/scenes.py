# SPDX-License-Identifier: MIT
"""What programs do with PyTorch, each with a snapshot while its variables live. See look.py."""

import collections
import copy
import ctypes
import gc
import queue
import sys
import threading
import weakref

import torch
import torch.nn.functional as F
from look import DEVICE, blocks, clear_workspaces, look, play, scene, storages
from torch import nn
from torch.utils.checkpoint import checkpoint


def net(width=64):
    return nn.Sequential(nn.Linear(width, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, width)).to(DEVICE)


def rand(*shape, **options):
    return torch.randn(*(shape or (16, 64)), device=DEVICE, **options)


# --- training loops ---


@scene
def total_loss():
    model, total = net(), 0
    for _ in range(5):
        x = rand()
        loss = model(x).pow(2).mean()
        total += loss
    look("total_loss", {"model": model}, graphs={"total": total, "loss": loss}, x=x, total=total, loss=loss)


@scene
def outputs_kept():
    model, outputs, detached = net(), [], []
    for _ in range(5):
        outputs.append(model(rand()))
        detached.append(model(rand()).detach())
    look("outputs_kept", {"model": model}, graphs={"outputs[*]": outputs},
         kept={"outputs[*]": outputs, "detached[*]": detached})


@scene
def hooks_of_modules():
    model, seen, grads = net(), {}, []

    def keeps(name):
        def hook(module, args, output):
            seen[name] = output.detach()
        return hook

    for name, module in model.named_modules():
        if name:
            module.register_forward_hook(keeps(name))
            module.register_full_backward_hook(lambda m, into, out: grads.append(out[0]))
    model(rand(requires_grad=True)).sum().backward()
    look("hooks_of_modules", {"model": model},
         kept={"grads[*]": grads, **{f"seen['{name}']": value for name, value in seen.items()}})


@scene
def optimizers():
    """An old one that is kept, and those with states of all kinds."""
    model = net()

    def steps(made):
        def closure():
            loss = model(rand()).pow(2).mean()
            loss.backward()
            return loss
        made.step(closure)
        return made

    old = opt = steps(torch.optim.Adam(model.parameters()))
    opt = steps(torch.optim.AdamW(model.parameters(), fused=True, amsgrad=True))
    sgd = steps(torch.optim.SGD(model.parameters(), .1, momentum=.9, foreach=True))
    rms = steps(torch.optim.RMSprop(model.parameters(), momentum=.9, centered=True, capturable=True))
    ada = steps(torch.optim.Adafactor(model.parameters()))
    bfgs = steps(torch.optim.LBFGS(model.parameters(), max_iter=2))
    look("optimizers", {"model": model}, {"opt": opt, "old": old, "sgd": sgd, "rms": rms, "ada": ada, "bfgs": bfgs})


@scene
def optimized_alone():
    """Tensors that no module has, and a rate that is a tensor."""
    latent = torch.randn(64, 32, device=DEVICE, requires_grad=True)
    others = [torch.randn(32, 32, device=DEVICE, requires_grad=True)]
    opt = torch.optim.Adam([latent, *others])
    (latent @ others[0]).pow(2).sum().backward()
    opt.step()
    opt.param_groups[0]["lr"] = torch.tensor(.1, device=DEVICE)
    both = {"latent": latent, "others[*]": others}
    look("optimized_alone", optimizers={"opt": opt}, roles={
        "parameters": both, "gradients": {name: [t.grad for t in ([value] if torch.is_tensor(value) else value)]
                                          for name, value in both.items()},
        "optimizer": {"opt.param_groups[*]['lr']": opt.param_groups[0]["lr"]}})


@scene
def accumulate():
    model, ema = net(), None
    opt = torch.optim.SGD(model.parameters(), .1, momentum=.9)
    for _ in range(4):
        (model(rand()).mean() / 4).backward()
    opt.step()
    ema = copy.deepcopy(model)
    shadow = {name: value.detach().clone() for name, value in model.named_parameters()}
    best = copy.deepcopy(model.state_dict())
    kept = {f"shadow['{name}']": value for name, value in shadow.items()}
    kept.update({f"best['{name}']": value for name, value in best.items()})
    look("accumulate", {"model": model, "ema": ema}, {"opt": opt}, kept=kept)


@scene
def only_the_scheduler():
    def build():
        model = net()
        opt = torch.optim.SGD(model.parameters(), .1, momentum=.9)
        model(rand()).sum().backward()
        opt.step()
        return torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)

    scheduler = build()
    parameters = scheduler.optimizer.param_groups[0]["params"]
    name = "scheduler.optimizer.param_groups[*]['params'][*]"
    look("only_the_scheduler", optimizers={"scheduler.optimizer": scheduler.optimizer}, roles={
        "parameters": {name: parameters, "parameters[*]": parameters},
        "gradients": {name: [p.grad for p in parameters], "parameters[*]": [p.grad for p in parameters]}})


@scene
def mixed_precision():
    model, scaler = net(), torch.amp.GradScaler("cuda")
    opt = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(rand()).pow(2).mean()
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    look("mixed_precision", {"model": model}, {"opt": opt}, {"loss": loss}, loss=loss,
         kept={"scaler._scale": scaler._scale, "scaler._growth_tracker": scaler._growth_tracker})


@scene
def autocast_cache():
    """Weights in half precision are kept while a forward pass without a graph is under way."""
    model, batch = net().eval(), rand()
    with torch.autocast("cuda", dtype=torch.float16), torch.no_grad():
        clear_workspaces()
        before = {address for address, _ in blocks()}
        out = model(batch)
        clear_workspaces()
        casts = {address for address, _ in blocks()} - before - storages(out)
        look("autocast_cache", {"model": model}, out=out, batch=batch,
             kept={"at::autocast::(anonymous namespace)::get_cached_casts()::cached_casts": casts})


@scene
def evaluation():
    model, results, cache = net().eval(), {"logits": [], "labels": []}, collections.deque(maxlen=3)
    with torch.no_grad():
        for _ in range(6):
            results["logits"].append(model(rand()))
            results["labels"].append(torch.randint(0, 9, (16,), device=DEVICE))
            cache.append(rand())
    look("evaluation", {"model": model}, kept={"results['logits'][*]": results["logits"],
                                               "results['labels'][*]": results["labels"], "cache[*]": list(cache)})


# --- tensors ---


@scene
def views():
    """What is small holds what is large."""
    first = rand(1000, 64)[0]
    turned = rand(64, 32).T
    piece = rand(64, 32).view(-1).narrow(0, 5, 10)
    detached = (rand(64, 32, requires_grad=True) * 2).view(-1).detach()
    of_leaf = rand(64, 32, requires_grad=True)[3]
    leaf = rand(64, 32, requires_grad=True)
    expanded, leaf = (leaf * 3).expand(2, 64, 32), storages(leaf)
    chunks = rand(64, 32).chunk(4)
    of_storage = rand(64, 32).untyped_storage()
    look("views", first=first, turned=turned, piece=piece, detached=detached, of_leaf=of_leaf, expanded=expanded,
         kept={"chunks[*]": chunks, "of_storage": {of_storage.data_ptr()}}, roles={"activations": {"expanded": leaf}})


@scene
def shared_parameters():
    class LM(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(100, 32)
            self.out = nn.Linear(32, 100, bias=False)
            self.out.weight = self.embedding.weight

        def forward(self, x):
            return self.out(self.embedding(x))

    model = LM().to(DEVICE)
    loss = model(torch.randint(0, 100, (4, 8), device=DEVICE)).sum()
    loss.backward()
    flat = net()
    whole = torch.cat([p.detach().reshape(-1) for p in flat.parameters()])
    gradient, at = torch.zeros_like(whole), 0
    for p in flat.parameters():
        p.data = whole[at:at + p.numel()].view_as(p)
        p.grad = gradient[at:at + p.numel()].view_as(p)
        at += p.numel()
    copied = nn.utils.parameters_to_vector(flat.parameters()).detach()
    look("shared_parameters", {"model": model, "flat": flat}, loss=loss, copied=copied, whole=whole, gradient=gradient)


@scene
def attributes_of_tensors():
    layer = nn.Linear(64, 64).to(DEVICE)
    layer.weight.main_grad = rand(64, 64)
    loose = nn.Parameter(rand(64, 64))

    class Named(torch.Tensor):
        pass

    named = rand(64, 64).as_subclass(Named)
    named.more = rand(64, 64)
    gone = weakref.ref(rand(64, 64))
    look("attributes_of_tensors", {"layer": layer}, named=named, roles={"parameters": {"loose": loose}},
         kept={"layer.weight.main_grad": layer.weight.main_grad, "named": named.more, "named.more": named.more})
    assert gone() is None


@scene
def sparse_and_nested():
    embedding = nn.Embedding(1000, 64, sparse=True).to(DEVICE)
    embedding(torch.randint(0, 1000, (40,), device=DEVICE)).sum().backward()
    coo = torch.sparse_coo_tensor(torch.randint(0, 100, (2, 200), device=DEVICE), rand(200), (100, 100), check_invariants=False)
    nested = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], device=DEVICE)
    jagged = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], device=DEVICE, layout=torch.jagged)
    look("sparse_and_nested", {"embedding": embedding}, coo=coo, jagged=jagged, kept={"nested": nested.values()})


@scene
def forward_mode():
    import torch.autograd.forward_ad as forward
    kept = []

    def inside(x):
        kept.append(x)
        return (x * 2).sum()

    with forward.dual_level():
        x = forward.make_dual(rand(), rand())
        y = x * 2
        grads = torch.func.vmap(torch.func.grad(inside))(rand(8, 64))
        wrapped = storages(torch._C._functorch.get_unwrapped(torch._C._functorch.get_unwrapped(kept[0])))
        look("forward_mode", x=x, y=y, grads=grads, kept={"kept[*]": wrapped}, roles={
            "other": {"x.tangent": storages(forward.unpack_dual(x).tangent),
                      "y.tangent": storages(forward.unpack_dual(y).tangent)}})


# --- the autograd graph ---


@scene
def functions():
    class Save(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, x.exp(), y)
            ctx.extra = y.exp()
            ctx.many = [y.sin(), {"k": y.cos()}]
            inside.update(storages([ctx.extra, ctx.many]))
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    inside = set()
    x = rand(requires_grad=True)
    y = Save.apply(Save.apply(x, rand()), rand()) * 2
    look("functions", graphs={"y": y}, roles={"activations": {"y": inside}}, x=x, y=y)


@scene
def hooks_of_tensors():
    x = rand(requires_grad=True)
    y = x * 2
    at = []

    def of_tensor(tensor):
        big = rand()
        at.append(storages(big))
        tensor.register_hook(lambda grad: grad * big)

    def of_node(node):
        big, small = rand(), rand()
        node.register_hook(lambda *grads: big.sum() and None)
        node.register_prehook(lambda grads: small.sum() and None)
        node.metadata["noted"] = noted = rand()
        at.append(storages([big, small, noted]))

    def of_gradient(tensor):
        late = rand()
        at.append(storages(late))
        tensor.register_post_accumulate_grad_hook(lambda p: late.sum() and None)

    of_tensor(x)
    of_gradient(x)
    of_tensor(y)
    z = y.sum()
    of_node(z.grad_fn)
    del y
    look("hooks_of_tensors", x=x, z=z, kept={"big (closure of x._backward_hooks[*])": at[0],
                                             "late (closure of x._post_accumulate_grad_hooks[*])": at[1]},
         roles={"activations": {"z": at[2] | at[3]}})


@scene
def checkpoints():
    layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(4)]).to(DEVICE)
    x = rand(requires_grad=True)
    passed, h, k = [], x, x
    for layer in layers:
        h = checkpoint(lambda h, layer=layer: torch.relu(layer(h)), h, use_reentrant=False)
        passed.append(storages(h))
    for layer in layers:
        k = checkpoint(lambda k, layer=layer: torch.relu(layer(k)), k, use_reentrant=True)
        passed.append(storages(k))
    look("checkpoints", {"layers": layers}, h=h, k=k, x=x,
         roles={"activations": {"h": set().union(*passed[:3]), "k": set().union(storages(x), *passed[4:7])}})


@scene
def pack_hooks():
    x, packed = rand(64, 64, requires_grad=True), set()

    def pack(tensor):
        copied = tensor * 1
        packed.update(storages(copied))
        return copied, "packed"

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value[0]):
        y = x.exp().sin()
    look("pack_hooks", x=x, y=y, roles={"activations": {"y": packed}})


@scene
def twice():
    x = rand(requires_grad=True)
    h = x.exp()
    h.retain_grad()
    y = h.pow(3).sum()
    g, = torch.autograd.grad(y, x, create_graph=True, retain_graph=True)
    y.backward(retain_graph=True)
    penalty = g.norm()
    look("twice", graphs={"y": y, "penalty": penalty, "h": h, "g": g}, x=x, y=y, h=h, g=g, penalty=penalty,
         roles={"gradients": {"x": x.grad, "h": h.grad}})


@scene
def layers_of_all_kinds():
    x = rand(4, 8, 64, requires_grad=True)
    attention = nn.MultiheadAttention(64, 4, batch_first=True).to(DEVICE)
    encoder = nn.TransformerEncoderLayer(64, 4, batch_first=True).to(DEVICE)
    conv = nn.Sequential(nn.Conv1d(8, 16, 3), nn.GroupNorm(4, 16)).to(DEVICE)
    lstm = nn.LSTM(64, 32, num_layers=2, bidirectional=True).to(DEVICE)
    a = attention(x, x, x)[0]
    b = encoder(x)
    c, d = conv(x), torch.cat([a, b]).softmax(-1)
    e = F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])
    f = [F.dropout(x), x.sort().values, x.max(1).values, F.layer_norm(x, [64]), x.cumprod(1), torch.where(x > 0, x, x * 2)]
    g = lstm(x)[0]
    g.sum().backward(retain_graph=True)
    look("layers_of_all_kinds", {"attention": attention, "encoder": encoder, "conv": conv, "lstm": lstm},
         graphs={"a": a, "b": b, "c": c, "d": d, "e": e, "f[*]": f, "g": g}, x=x, a=a, b=b, c=c, d=d, e=e, g=g,
         kept={"f[*]": f}, roles={"gradients": {"x": x.grad}})


@scene
def parametrized():
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(64, 64)),
                          nn.utils.parametrizations.spectral_norm(nn.Linear(64, 64)), nn.utils.weight_norm(nn.Linear(64, 64)))
    model = model.to(DEVICE)
    y = model(rand())
    look("parametrized", {"model": model}, graphs={"y": y, "model[*].weight": y}, y=y, kept={"model[*].weight": model[2].weight})


# --- where it is held ---


@scene
def exception():
    kept = []

    def work(x):
        big = rand(1000, 100)
        at.update(storages(big))
        raise ValueError(f"{len(x)}")

    at, batch = set(), rand()
    try:
        work(batch)
    except ValueError as error:
        kept.append(error)
    look("exception", batch=batch, kept={"big (local of exception.<locals>.work())": at})


@scene
def threads():
    go, ready, waiting, held_at = threading.Event(), threading.Event(), queue.Queue(4), set()

    def loader():
        held = rand()
        held_at.update(storages(held))
        for _ in range(3):
            waiting.put(rand())
        ready.set()
        go.wait()

    thread = threading.Thread(target=loader)
    thread.start()
    ready.wait()
    look("threads", kept={"held": held_at, "waiting.queue[*]": list(waiting.queue)})
    go.set()
    thread.join()


@scene
def cycle():
    class Node:
        pass

    def make():
        one, other = Node(), Node()
        one.other, other.other = other, one
        one.data = rand()
        return storages(one.data)

    gc.disable()
    at = make()
    look("cycle", late=True, kept={"cycle.<locals>.Node.data": at})
    gc.enable()


def leave_in_heap(tensor):
    """Blocks of the C library that are given out next, with what reads as this tensor, saved, in words that a node of
    the autograd graph does not write: those of a second result, which it does not have."""
    def word(at):
        return ctypes.c_uint64.from_address(at)

    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    impl = word(id(tensor) + 16).value
    impl = impl if impl > 4096 else word(id(tensor) + 24).value
    taken = []
    for bytes in range(464, 1280, 16):
        for _ in range(7):
            block = libc.malloc(bytes)
            taken.append(block)
            ctypes.memset(block, 0, bytes)
            word(block + 368).value = impl
            word(block + 368 + 40).value = 1 << 16
    for block in taken:
        libc.free(block)


@scene
def left_in_heap():
    model = net()
    opt = torch.optim.Adam(model.parameters())
    model(rand()).sum().backward()
    opt.step()
    gc.collect()
    leave_in_heap(opt.state[model[0].weight]["exp_avg"])
    loss = model(rand()).sum()
    loss.backward()
    look("left_in_heap", {"model": model}, {"opt": opt}, loss=loss)


@scene
def loaders():
    from torch.utils.data import DataLoader, TensorDataset

    class Prefetch:
        def __init__(self, loader):
            self.loader = iter(loader)
            self.next = [tensor.to(DEVICE, non_blocking=True) for tensor in next(self.loader)]

    loader = DataLoader(TensorDataset(torch.randn(64, 32), torch.randint(0, 9, (64,))), batch_size=8, pin_memory=True)
    ahead = Prefetch(loader)
    for inputs, targets in loader:
        inputs, targets = inputs.to(DEVICE), targets.to(DEVICE)
        break
    resident = TensorDataset(rand(64, 32))
    look("loaders", inputs=inputs, targets=targets, kept={"ahead.next[*]": ahead.next, "resident.tensors[*]": resident.tensors})


@scene
def graph_pool():
    model, static_in = net().eval(), rand()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(stream):
        model(static_in)
    torch.cuda.current_stream().wait_stream(stream)
    before = torch.cuda.memory_allocated()
    empty, other, graph = (torch.cuda.CUDAGraph() for _ in range(3))
    with torch.cuda.graph(empty):
        pass
    random = torch.cuda.memory_allocated() - before  # older versions: a generator's state, which C++ has
    with torch.cuda.graph(other):
        pass
    random += 2 * (torch.cuda.memory_allocated() - before - random)  # 2.12: each graph has one, the next one, too
    with torch.no_grad(), torch.cuda.graph(graph):
        static_out = model(static_in)
    graph.replay()
    look("graph_pool", {"model": model}, static_in=static_in, static_out=static_out, left=random)


# --- at last ---


@scene
def in_place_on_views():
    """The last one: PyTorch itself never frees what such operations saved."""
    leaf = rand(64, 32, requires_grad=True)
    x = leaf * 2
    doubled = leaf[0] * 2
    factor = storages(doubled)
    x[0] = doubled * doubled
    del doubled
    by = rand(64).exp()
    column = x[:, 1]
    before = storages(x)
    column.mul_(by)
    y = x.sin()
    row = x[3]
    row.neg_()
    look("in_place_on_views", leaf=leaf, x=x, y=y, by=by, row=row,
         roles={"activations": {"x": factor | storages(by) | before, "y": before}})


if __name__ == "__main__":
    play(sys.argv[1:])
