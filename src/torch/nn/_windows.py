"""Sliding windows over the last dimensions of a tensor: what convolutions and pooling are made of.

`unfold` copies every window (im2col), `fold` adds windows back to where they came from (col2im). Both are linear and
each is the other's transpose, so each is the other's gradient, to any order. A convolution is a matrix product on top.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.autograd import Function

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor


class Windows(NamedTuple):
    """Windows of `kernel` elements, `dilation` apart, that start every `stride` in an image of `size`."""

    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many windows there are in each dimension."""
        facts = zip(self.size, self.kernel, self.stride, self.dilation, strict=True)
        return tuple((size - dilation * (kernel - 1) - 1) // stride + 1 for size, kernel, stride, dilation in facts)

    def check(self, name: str) -> None:
        """Raises RuntimeError unless there is at least one window."""
        if any(value <= 0 for value in (*self.kernel, *self.stride, *self.dilation)):
            raise RuntimeError(
                f"{name}: kernel size, stride and dilation must be positive, but got kernel_size={self.kernel}, "
                f"stride={self.stride}, dilation={self.dilation}"
            )
        if any(count <= 0 for count in self.counts):
            reach = tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))
            raise RuntimeError(
                f"Calculated padded input size per channel: {self.size}. Kernel size: {reach}. "
                f"Kernel size can't be greater than actual input size in {name}"
            )

    def places(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """For each element of the kernel, its number and where its values lie in an image (N, C, *size)."""
        for number, offsets in enumerate(itertools.product(*(range(kernel) for kernel in self.kernel))):
            facts = zip(offsets, self.counts, self.stride, self.dilation, strict=True)
            slices = [
                slice(offset * dilation, offset * dilation + (count - 1) * stride + 1, stride)
                for offset, count, stride, dilation in facts
            ]
            yield number, (slice(None), slice(None), *slices)


class _Unfold(Function):
    """(N, C, *size) -> (N, C, kernel elements, *windows)"""

    @staticmethod
    def forward(ctx: Any, image: Tensor, windows: Windows) -> Tensor:
        ctx.windows = windows
        elements = torch.Size(windows.kernel).numel()
        columns = image.new_empty((*image.shape[:2], elements, *windows.counts))
        for number, place in windows.places():
            columns[:, :, number] = image[place]
        return columns

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _Fold.apply(gradient, ctx.windows), None


class _Fold(Function):
    """(N, C, kernel elements, *windows) -> (N, C, *size), windows that overlap added up"""

    @staticmethod
    def forward(ctx: Any, columns: Tensor, windows: Windows) -> Tensor:
        ctx.windows = windows
        image = columns.new_zeros((*columns.shape[:2], *windows.size))
        for number, place in windows.places():
            image[place] += columns[:, :, number]
        return image

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _Unfold.apply(gradient, ctx.windows), None


def unfold(image: Tensor, windows: Windows) -> Tensor:
    """(N, C, *size) -> (N, C, kernel elements, *windows)"""
    result: Tensor = _Unfold.apply(image, windows)
    return result


def fold(columns: Tensor, windows: Windows) -> Tensor:
    """(N, C, kernel elements, *windows) -> (N, C, *size)"""
    result: Tensor = _Fold.apply(columns, windows)
    return result


def per_dimension(value: int | Sequence[int], dimensions: int, name: str) -> tuple[int, ...]:
    """One number for all dimensions, or one for each."""
    if isinstance(value, int):
        return (value,) * dimensions
    values = tuple(value)
    if len(values) == 1:
        return values * dimensions
    if len(values) != dimensions:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dimensions} values, but got {value}"
        )
    return values
