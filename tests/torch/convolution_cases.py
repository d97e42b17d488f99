"""Convolutions for the tests of CUDA: operands, results with gradients, and how close they are to the CPU's."""

from __future__ import annotations

from typing import NamedTuple

import torch

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


class Case(NamedTuple):
    """Operands of a convolution; `more` is the output padding of the transposed one."""

    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    transposed: bool = False
    more: tuple[int, ...] = (0, 0, 0)


CASES = {
    "one of each": Case((1, 1, 1), (1, 1, 1), (1,), (0,), (1,)),
    "signals": Case((2, 4, 9), (6, 2, 3), (2,), (1,), (1,), 2),
    "images": Case((1, 2, 7, 6), (3, 2, 3, 2), (2, 1), (1, 0), (1, 2)),
    "volumes": Case((2, 2, 4, 5, 4), (4, 1, 2, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 2), 2),
    "more than a tile": Case((1, 9, 11, 13), (70, 9, 3, 3), (1, 1), (1, 1), (1, 1)),
    "a long depth": Case((1, 88, 4, 3), (5, 88, 3, 2), (1, 1), (1, 1), (1, 1)),
    "many positions": Case((1, 3, 22, 25), (4, 3, 2, 3), (1, 1), (0, 2), (1, 1)),
    "tiles of groups": Case((1, 6, 6, 5), (40, 3, 3, 3), (2, 1), (1, 1), (1, 1), 2),
    "channelwise": Case((2, 5, 8, 9), (10, 1, 3, 3), (1, 2), (1, 1), (2, 1), 5),
    "channelwise, many positions": Case((1, 2, 24, 25), (2, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "padding beyond the kernel": Case((1, 2, 4, 4), (3, 2, 2, 2), (3, 2), (3, 4), (1, 1)),
    "transposed signals": Case((2, 4, 7), (4, 3, 3), (2,), (1,), (1,), 2, True, (1,)),
    "transposed images": Case((2, 9, 5, 6), (9, 5, 3, 4), (2, 3), (1, 0), (1, 2), 1, True, (1, 2)),
    "transposed volumes": Case((1, 2, 3, 2, 3), (2, 2, 2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 1, 2), 2, True, (1, 0, 0)),
    "transposed, phases without an element": Case((1, 2, 4), (2, 1, 2), (4,), (0,), (2,), 1, True, (3,)),
    "transposed, more than a stride": Case((1, 2, 4), (2, 1, 2), (1,), (0,), (3,), 1, True, (2,)),
    "transposed channelwise": Case((2, 3, 5, 4), (3, 2, 3, 3), (2, 2), (1, 1), (1, 1), 3, True, (1, 0)),
    "kernels of one element": Case((2, 5, 4, 6), (7, 5, 1, 1), (1, 1), (0, 0), (1, 1)),
    "kernels of one element, strided": Case((2, 5, 4, 6), (7, 5, 1, 1), (2, 1), (0, 0), (1, 1)),
    "kernels of one element, padded": Case((2, 5, 4), (3, 5, 1), (1,), (1,), (1,)),
    "kernels of one element, groups": Case((2, 6, 4), (4, 3, 1), (1,), (0,), (1,), 2),
    "kernels of one element, volumes": Case((2, 3, 2, 3, 4), (4, 3, 1, 1, 1), (1, 1, 1), (0, 0, 0), (2, 1, 1)),
    "kernels of one element, transposed": Case((2, 5, 4, 6), (5, 7, 1, 1), (1, 1), (0, 0), (1, 1), 1, True),
    "kernels of one element, with more": Case((2, 5, 4, 6), (5, 7, 1, 1), (1, 1), (0, 0), (2, 2), 1, True, (1, 0)),
}
# Sizes that only kernels of our own have anything to do with.
TILES = {"more than a tile", "a long depth", "many positions", "tiles of groups", "channelwise, many positions"}


def make_numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def convolve(case: Case, *operands: torch.Tensor | None) -> torch.Tensor:
    more = case.more[: len(case.stride)]
    window = (case.stride, case.padding, case.dilation, case.transposed, more, case.groups)
    return torch.convolution(*operands, *window)


def compute_all(case: Case, *operands: torch.Tensor) -> list[torch.Tensor]:
    """The convolution, and the gradients of all its operands."""
    leaves = [operand.detach().requires_grad_() for operand in operands]
    out = convolve(case, *leaves)
    grads = torch.autograd.grad(out, leaves, make_numbers(tuple(out.shape), out.dtype, 3).to(out.device))
    return [out.detach(), *grads]


def assert_close(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    assert actual.dtype == dtype
    scale = expected.abs().max().clamp(min=1).item()
    # Types of 16 bits are summed in float32 and rounded once; cuDNN has algorithms that transform operands before.
    bound = (4 if dtype.itemsize == 2 else 32) * torch.finfo(dtype).eps
    if torch.backends.cudnn.enabled and torch.backends.cudnn.is_available():
        bound *= 8
    torch.testing.assert_close(actual.cpu().double() / scale, expected / scale, rtol=0, atol=bound)


def make_operands(case: Case, dtype: torch.dtype) -> list[torch.Tensor]:
    """Image, weight and bias."""
    channels = case.weight[1] * case.groups if case.transposed else case.weight[0]
    return [make_numbers(shape, dtype, i) for i, shape in enumerate((case.input, case.weight, (channels,)))]
