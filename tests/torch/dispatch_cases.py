"""Calls whose operators, as a mode of `__torch_dispatch__` sees them, are compared with PyTorch's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Callable

torch.manual_seed(0)
X, Y, W, B = torch.randn(4, 8), torch.randn(4, 8), torch.randn(8, 8), torch.randn(8)
BATCH, IMAGE, KERNEL = torch.randn(2, 4, 8), torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3)
INDEX = torch.tensor([2, 0, 3, 1])
ZEROS, ONES = torch.zeros(3), torch.ones(3)
PAIR = torch.tensor([1, 3])
FLAGS = X > 0
LEAF = torch.randn(4, 8, requires_grad=True)
MATRIX = torch.randn(8, 8, requires_grad=True)


class Names(TorchDispatchMode):
    """Keeps the names of the operators that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func).removeprefix("aten."))
        return func(*args, **(kwargs or {}))


def _step(model: nn.Module, given: torch.Tensor, loss: Callable[[Any], torch.Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        loss(model(given)).backward()
        optimizer.step()

    return step


def _mlp() -> Callable[[], None]:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    return _step(model, X, lambda y: F.cross_entropy(y, INDEX))


def _cnn() -> Callable[[], None]:
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 4)
    )
    return _step(model, IMAGE, lambda y: F.cross_entropy(y, PAIR))


def _transformer() -> Callable[[], None]:
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return _step(model, BATCH, lambda y: y.square().mean())


# Names of calls; training steps are made when they are asked for.
CASES: dict[str, Callable[[], Any]] = {
    "x + y": lambda: X + Y,
    "x + 2": lambda: X + 2,
    "2 - x": lambda: 2 - X,
    "x * 2": lambda: X * 2,
    "x / 2.5": lambda: X / 2.5,
    "x ** 2": lambda: X**2,
    "x @ w": lambda: X @ W,
    "batch @ w": lambda: BATCH @ W,
    "batch @ batch.mT": lambda: BATCH @ BATCH.transpose(1, 2),
    "w @ b": lambda: W @ B,
    "linear": lambda: F.linear(X, W, B),
    "linear without bias": lambda: F.linear(X, W),
    "linear of a batch": lambda: F.linear(BATCH, W, B),
    "linear of a batch without bias": lambda: F.linear(BATCH, W),
    "addmm": lambda: torch.addmm(B, X, W),
    "baddbmm": lambda: torch.baddbmm(BATCH[:, :, :4], BATCH, BATCH.transpose(1, 2)),
    "t": lambda: X.t(),
    "transpose": lambda: X.transpose(0, 1),
    "view": lambda: X.view(8, 4),
    "reshape": lambda: X.reshape(-1),
    "permute": lambda: BATCH.permute(2, 0, 1),
    "contiguous": lambda: X.t().contiguous(),
    "expand": lambda: B.expand(4, 8),
    "unsqueeze": lambda: X.unsqueeze(0),
    "x[1]": lambda: X[1],
    "x[1:, ::2]": lambda: X[1:, ::2],
    "x[index]": lambda: X[INDEX],
    "x[mask]": lambda: X[FLAGS],
    "split": lambda: X.split(2),
    "cat": lambda: torch.cat([X, Y]),
    "stack": lambda: torch.stack([X, Y]),
    "sum": lambda: X.sum(),
    "sum(1)": lambda: X.sum(1),
    "mean": lambda: X.mean(),
    "var(1)": lambda: X.var(1),
    "max(1)": lambda: X.max(1),
    "argmax": lambda: X.argmax(1),
    "softmax": lambda: F.softmax(X, -1),
    "log_softmax": lambda: F.log_softmax(X, -1),
    "cross_entropy": lambda: F.cross_entropy(X, INDEX),
    "mse_loss": lambda: F.mse_loss(X, Y),
    "relu": lambda: F.relu(X),
    "gelu": lambda: F.gelu(X),
    "silu": lambda: F.silu(X),
    "layer_norm": lambda: F.layer_norm(X, (8,), B, B),
    "rms_norm": lambda: F.rms_norm(X, (8,), B),
    "group_norm": lambda: F.group_norm(IMAGE, 3),
    "batch_norm": lambda: F.batch_norm(IMAGE, ZEROS, ONES),
    "conv2d": lambda: F.conv2d(IMAGE, KERNEL, padding=1),
    "max_pool2d": lambda: F.max_pool2d(IMAGE, 2),
    "avg_pool2d": lambda: F.avg_pool2d(IMAGE, 2),
    "embedding": lambda: F.embedding(INDEX, W),
    "attention": lambda: F.scaled_dot_product_attention(IMAGE, IMAGE, IMAGE),
    "where": lambda: torch.where(FLAGS, X, Y),
    "masked_fill": lambda: X.masked_fill(FLAGS, 0.0),
    "x > 0": lambda: X > 0,
    "x == y": lambda: X == Y,
    "to(float16)": lambda: X.to(torch.float16),
    "to(float32)": lambda: X.to(torch.float32),
    "detach": lambda: X.detach(),
    "clone": lambda: X.clone(),
    "data": lambda: X.data,
    "item": lambda: B[0].item(),
    "zeros": lambda: torch.zeros(2, 3),
    "ones_like": lambda: torch.ones_like(X),
    "arange": lambda: torch.arange(5),
    "randn": lambda: torch.randn(2),
    "add_": lambda: X.clone().add_(Y),
    "copy_": lambda: X.clone().copy_(Y),
    "zero_": lambda: X.clone().zero_(),
    "out=": lambda: torch.add(X, Y, out=torch.empty(4, 8)),
    "clamp": lambda: X.clamp(0, 1),
    "cumsum": lambda: X.cumsum(0),
    "topk": lambda: X.topk(2),
    "sort": lambda: X.sort(),
    "repeat": lambda: X.repeat(2, 1),
    "norm": lambda: X.norm(),
    "tril": lambda: W.tril(),
    "pad": lambda: F.pad(X, (1, 1)),
    "interpolate": lambda: F.interpolate(IMAGE, scale_factor=2),
    "dropout": lambda: F.dropout(X, 0.5, True),
    "backward of (x * 2).sum()": lambda: (LEAF * 2).sum().backward(),
    "backward of (x @ w).sum()": lambda: (LEAF @ MATRIX).sum().backward(),
    "a step of an MLP": lambda: _mlp()(),
    "a step of a CNN": lambda: _cnn()(),
    "a step of a transformer": lambda: _transformer()(),
}


def names_of(case: str) -> list[str]:
    """The operators of a call, without the marks of a profiler and the making of a model."""
    LEAF.grad = MATRIX.grad = None
    made = {"a step of an MLP": _mlp, "a step of a CNN": _cnn, "a step of a transformer": _transformer}.get(case)
    call = made() if made else CASES[case]
    with Names() as mode:
        call()
    return [name for name in mode.names if not name.startswith("profiler.")]
