"""Padding, and what the functions of images and signals share about their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Adds elements before and after the last dimensions: (last before, last after, second last before, ...).

    `mode`: "constant" (`value`, default 0; negative counts cut off), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2 or len(pad) // 2 > input.dim():
        raise RuntimeError(
            "Padding length must be divisible by 2 and at most twice the number of dimensions of the input: "
            f"got {len(pad)} for {input.dim()} dimensions"
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode != "constant":
        if value not in (None, 0):
            raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
        return _pad_by_index(input, pad, mode)
    before, after = list(pad[::2]), list(pad[1::2])
    if not any(pad):
        return input.clone()
    inner = [slice(None)] * input.dim()
    outer = list(inner)
    shape = list(input.shape)
    for number, (start, end) in enumerate(zip(before, after, strict=True)):
        dim = input.dim() - 1 - number
        shape[dim] += start + end
        if shape[dim] < 0:
            raise RuntimeError(f"The padding ({start}, {end}) leaves less than nothing of dimension {dim}")
        outer[dim] = slice(max(start, 0), max(start, 0) + max(input.size(dim) + min(start, 0) + min(end, 0), 0))
        inner[dim] = slice(max(-start, 0), input.size(dim) - max(-end, 0))
    result = torch.full(shape, 0 if value is None else value, dtype=input.dtype, device=input.device)
    result[tuple(outer)] = input[tuple(inner)]
    return result


def _pad_by_index(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    for number, (start, end) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = input.dim() - 1 - number
        size = input.size(dim)
        limit = size - 1 if mode == "reflect" else size
        if mode != "replicate" and max(start, end) > limit:
            raise RuntimeError(
                f"Padding size should be at most {limit} for {mode} padding of {size} elements, got {pad}"
            )
        places = torch.arange(-start, size + end)
        if mode == "replicate":
            places = places.clamp(0, size - 1)
        elif mode == "circular":
            places = places.remainder(size)
        else:
            places = (size - 1) - ((size - 1) - places.abs()).abs()
        input = input.index_select(dim, places.to(input.device))
    return input


def batched(input: Tensor, dimensions: int, name: str) -> tuple[Tensor, bool]:
    """The input as (N, C, ...), and whether a batch dimension was added."""
    if input.dim() not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"Expected {dimensions + 1}D (unbatched) or {dimensions + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    single = input.dim() == dimensions + 1
    return (input.unsqueeze(0) if single else input), single


def padded(input: Tensor, amounts: Sequence[tuple[int, int]], value: float = 0.0) -> Tensor:
    flat = [amount for pair in reversed(amounts) for amount in pair]
    return pad(input, flat, value=value) if any(flat) else input
