"""Draws of random numbers on a CUDA device. What PyTorch drew is in golden (make_cuda_draws.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE: Any = {"device": "cuda"}
KEPT = 16
"""How many numbers of each end of a draw are compared."""


def _of_size(n: int) -> dict[str, Callable[[], Any]]:
    def empty(dtype: torch.dtype = torch.float32) -> Any:
        return torch.empty(n, dtype=dtype, **DEVICE)

    def ones(dtype: torch.dtype = torch.float32) -> Any:
        return torch.ones(n, dtype=dtype, **DEVICE)

    return {
        f"rand {n} float32": lambda: torch.rand(n, **DEVICE),
        f"rand {n} float64": lambda: torch.rand(n, dtype=torch.float64, **DEVICE),
        f"randn {n} float32": lambda: torch.randn(n, **DEVICE),
        f"randn {n} bfloat16": lambda: torch.randn(n, dtype=torch.bfloat16, **DEVICE),
        f"randint {n}": lambda: torch.randint(0, 1000, (n,), **DEVICE),
        f"randint wide {n}": lambda: torch.randint(0, 1 << 40, (n,), **DEVICE),
        f"bernoulli_ {n}": lambda: empty().bernoulli_(0.3),
        f"exponential {n}": lambda: empty().exponential_(1.5),
        f"geometric {n}": lambda: empty().geometric_(0.2),
        f"cauchy {n}": lambda: empty().cauchy_(1, 2),
        f"log_normal {n}": lambda: empty().log_normal_(0.5, 0.25),
        f"dropout {n}": lambda: functional.dropout(ones(), 0.4),
        f"dropout f64 {n}": lambda: functional.dropout(ones(torch.float64), 0.4),
        f"dropout bf16 {n}": lambda: functional.dropout(ones(torch.bfloat16), 0.4),
        f"randperm {n}": lambda: torch.randperm(n, **DEVICE),
        f"randperm i32 {n}": lambda: torch.randperm(n, dtype=torch.int32, **DEVICE),
    }


def _weights() -> Any:
    return torch.linspace(1, 2, 40, **DEVICE)


CASES: dict[str, Callable[[], Any]] = {
    **_of_size(5),
    **_of_size(1000),
    "dropout strided": lambda: functional.dropout(torch.ones(64, 33, **DEVICE).t(), 0.4),
    "dropout 2d": lambda: functional.dropout2d(torch.ones(8, 16, 4, 4, **DEVICE), 0.4),
    "rrelu": lambda: functional.rrelu(-torch.ones(1000, **DEVICE), training=True),
    "gumbel": lambda: functional.gumbel_softmax(torch.ones(10, 10, **DEVICE)),
    "multinomial repl": lambda: torch.multinomial(_weights(), 100, replacement=True),
    "multinomial 10": lambda: torch.multinomial(_weights(), 10),
    "multinomial rows": lambda: torch.multinomial(_weights().view(4, 10), 3),
    "multinomial rows repl": lambda: torch.multinomial(_weights().view(4, 10), 30, replacement=True),
    "rand strided": lambda: torch.empty(50, 40, **DEVICE).t().uniform_(),
    "randn sliced": lambda: torch.zeros(50, 40, **DEVICE)[:, ::2].normal_(),
    "rand_like": lambda: torch.rand_like(torch.ones(10, 10, **DEVICE).t()),
    "rand offset": lambda: (torch.rand(7, **DEVICE), torch.randn(3, **DEVICE), torch.rand(9, **DEVICE))[2],
}


def draw(name: str) -> Any:
    """What a case draws with seed 1234: the generator's offset afterwards, the count, and numbers of both ends."""
    torch.manual_seed(1234)
    drawn = CASES[name]()
    offset = int.from_bytes(bytes(torch.cuda.get_rng_state()[8:16].tolist()), "little")
    numbers = drawn.flatten().to(torch.float64).cpu().numpy()
    return np.concatenate([[offset, numbers.size], numbers[:KEPT], numbers[-KEPT:]])
