# SPDX-License-Identifier: MIT
"""A training whose memory is for everything that there are roles for; prints what PyTorch itself says of it at the end: for
each role, the addresses of the distinct storages, and for each name that a snapshot must give, those that it holds."""

import copy
import json

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 512)
        self.norm = torch.nn.BatchNorm1d(512)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(512, 512) for _ in range(3)])
        self.last = torch.nn.Linear(512, 64)
        self.last.weight = torch.nn.Parameter(torch.randn(64, 512))
        self.cache = {}

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        for layer in self.layers:
            x = Square.apply(layer(x))
        self.cache["last"] = x.detach().clone()
        return self.last(x)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]


def storage(tensor):
    return tensor.untyped_storage().data_ptr()


def cuda(tensors):
    return sorted({storage(t) for t in tensors if torch.is_tensor(t) and t.is_cuda})


def saved(root):
    """Tensors that the graph's nodes saved."""
    found, seen, nodes = [], set(), [root]
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        nodes += [following for following, _ in node.next_functions]
        names = [name for name in dir(node) if name.startswith("_saved_") or name == "saved_tensors"]
        for name in names:
            try:
                value = getattr(node, name)
            except RuntimeError:  # a parameter that was updated since
                continue
            found += value if isinstance(value, (list, tuple)) else [value]
    return found


model = Net().cuda()
tied = torch.nn.Linear(512, 64).cuda()
tied.weight = model.last.weight  # shared: one storage, two modules
opt = torch.optim.Adam(list(model.parameters()) + [tied.bias], amsgrad=True)
ema = copy.deepcopy(model)
history = []
total_loss = 0
for step in range(4):
    x = torch.randn(32, 64, device="cuda")
    y = model(x) + tied(model.cache["last"])
    loss = y.pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    history.append(y.detach().clone())
    total_loss = total_loss + loss

state = [value for values in opt.state.values() for value in values.values()]
owners = {
    "history[*]": cuda(history),
    "total_loss": cuda([total_loss]),
    "model.cache['last']": cuda([model.cache["last"]]),
}
roles = {
    "PARAMETER": cuda([*model.parameters(), *tied.parameters(), *ema.parameters()]),
    "BUFFER": cuda([*model.buffers(), *ema.buffers()]),
    "GRADIENT": cuda([p.grad for p in [*model.parameters(), *tied.parameters()]]),
    "OPTIMIZER": cuda(state),
    "SAVED": cuda(saved(total_loss.grad_fn)),
}
if hasattr(torch._C, "_cuda_clearCublasWorkspaces"):
    torch._C._cuda_clearCublasWorkspaces()  # blocks that only C++ knows
print(json.dumps({"roles": roles, "owners": owners, "shared": storage(tied.weight),
                  "allocated": torch.cuda.memory_allocated()}))
