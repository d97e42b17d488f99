"""Sums with a factor are rounded once, as PyTorch's are where the processor can: optimizers are made of them."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

CPU = Path("/proc/cpuinfo")

pytestmark = pytest.mark.skipif(
    platform.machine() == "x86_64" and " fma " not in CPU.read_text(encoding="ascii", errors="replace"),
    reason="the processor has no fused multiply-add",
)

FACTOR = float(torch.tensor(0.3))
"""Of float32, as kernels take it."""

CASES: dict[str, tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]]] = {
    # Of three float32 tensors; the same of float64 ones, where products of two are exact.
    "add": (lambda a, b, c: a.add(b, alpha=FACTOR), lambda a, b, c: a + FACTOR * b),
    "sub": (lambda a, b, c: a.sub(b, alpha=FACTOR), lambda a, b, c: a - FACTOR * b),
    "addcmul": (lambda a, b, c: a.addcmul(b, c), lambda a, b, c: a + b * c),
    "lerp": (lambda a, b, c: a.lerp(b, FACTOR), lambda a, b, c: a + FACTOR * (b - a).float().double()),
    "lerp from the end": (lambda a, b, c: a.lerp(b, 0.75), lambda a, b, c: b - 0.25 * (b - a).float().double()),
    "lerp by tensor": (
        lambda a, b, c: a.lerp(b, c.abs() / 64),
        lambda a, b, c: a + (c.abs() / 64) * (b - a).float().double(),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", [(3,), (1000,), (20, 7)])
def test_rounded_once(name: str, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    # Numbers of 24 bits below 8, so that halves of the last digit are rare in the sum of two doubles.
    a, b, c = (torch.randint(-(1 << 23), 1 << 23, shape, generator=generator) / float(1 << 20) for _ in range(3))
    single, double = CASES[name]
    assert torch.equal(single(a, b, c), double(a.double(), b.double(), c.double()).float())
    turned = [tensor.t().contiguous().t() for tensor in (a, b, c)]
    assert torch.equal(single(*turned), single(a, b, c)), "in whatever order the elements lie"


def test_integers_wrap() -> None:
    most = torch.tensor([torch.iinfo(torch.int64).max])
    assert most.add(most, alpha=2).tolist() == [(3 * most.item() + (1 << 63)) % (1 << 64) - (1 << 63)]
    assert torch.tensor([3]).addcmul(torch.tensor([4]), torch.tensor([5]), value=2).tolist() == [43]
