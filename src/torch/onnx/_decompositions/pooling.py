"""Pools of windows at random, by the elements that the windows hold."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor
from torch.onnx._decompositions.table import decomposition


@decomposition
def fractional_max_pool2d(
    x: Tensor, kernel_size: list[int], output_size: list[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Of an image, the first sample is that of the columns."""
    return _pool(x, _spread(kernel_size, 2), _spread(output_size, 2), random_samples.flip(-1))


@decomposition
def fractional_max_pool3d(
    x: Tensor, kernel_size: list[int], output_size: list[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    return _pool(x, _spread(kernel_size, 3), _spread(output_size, 3), random_samples)


def _spread(size: int | list[int], dimensions: int) -> list[int]:
    sizes = [size] if isinstance(size, int) else list(size)
    return sizes * dimensions if len(sizes) == 1 else sizes


def _pool(x: Tensor, kernels: list[int], wanted: list[int], samples: Tensor) -> tuple[Tensor, Tensor]:
    """The largest element of each window, and its place: `samples` (N, C, dimensions) say where windows begin."""
    dimensions = len(kernels)
    images = x if x.dim() == dimensions + 2 else x.unsqueeze(0)
    batch, channels, *spatial = images.shape
    places = torch.zeros([1] * (2 + 2 * dimensions), dtype=torch.int64)
    for number, (size, new, kernel) in enumerate(zip(spatial, wanted, kernels, strict=True)):
        inside = _starts(samples[..., number], size, new, kernel).unsqueeze(-1) + torch.arange(kernel)
        shape = [samples.shape[0], channels, *[1] * (2 * dimensions)]
        shape[2 + number], shape[2 + dimensions + number] = new, kernel
        places = places * size + inside.reshape(shape)
    places = places.reshape(samples.shape[0], channels, prod(wanted), prod(kernels)).expand(batch, -1, -1, -1)
    values = images.flatten(2)
    windows = values.gather(2, places.flatten(2)).reshape(places.shape)
    best = places.gather(3, windows.max(3, keepdim=True)[1]).squeeze(3)
    shape = [*images.shape[:2], *wanted] if images is x else [channels, *wanted]
    return values.gather(2, best).reshape(shape), best.reshape(shape)


def _starts(samples: Tensor, size: int, wanted: int, kernel: int) -> Tensor:
    """Where `wanted` windows begin that share a dimension: samples (N, C) -> (N, C, wanted)."""
    last = samples.new_full((*samples.shape, 1), size - kernel).to(torch.int64)
    if wanted == 1:
        return last
    alpha = float(torch.tensor((size - kernel) / (wanted - 1), dtype=samples.dtype))
    numbers = torch.arange(wanted - 1, dtype=samples.dtype)
    sample = samples.unsqueeze(-1)
    starts = ((numbers + sample) * alpha).to(torch.int64) - (sample * alpha).to(torch.int64)
    return torch.cat((starts, last), -1)
