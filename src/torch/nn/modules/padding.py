"""Padding of signals, images and volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


def _sides(padding: Sizes, dimensions: int) -> tuple[int, ...]:
    return (padding,) * (2 * dimensions) if isinstance(padding, int) else tuple(padding)


class _ConstantPadNd(Module):
    dimensions: int
    value: float
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = _sides(padding, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The larger input."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The places at every side, and what they hold."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """(*, L) with places that hold `value` at every side.

    `padding`: one number for all sides or (left, right); negative ones cut off.

    >>> torch.nn.ConstantPad1d(1, 5.0)(torch.zeros(1, 2)).shape
    torch.Size([1, 4])
    """

    dimensions = 1


class ConstantPad2d(_ConstantPadNd):
    """(*, H, W) with places that hold `value` at every side.

    `padding`: one number for all sides or (left, right, top, bottom); negative ones cut off.

    >>> torch.nn.ConstantPad2d(1, 5.0)(torch.zeros(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    dimensions = 2


class ConstantPad3d(_ConstantPadNd):
    """(*, D, H, W) with places that hold `value` at every side.

    `padding`: one number for all sides or (left, right, top, bottom, front, back); negative ones cut off.

    >>> torch.nn.ConstantPad3d(1, 5.0)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dimensions = 3


class ZeroPad1d(ConstantPad1d):
    """(*, L) with zeros at every side; `padding` as in `ConstantPad1d`.

    >>> torch.nn.ZeroPad1d(1)(torch.ones(1, 2)).shape
    torch.Size([1, 4])
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """(*, H, W) with zeros at every side; `padding` as in `ConstantPad2d`.

    >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """(*, D, H, W) with zeros at every side; `padding` as in `ConstantPad3d`.

    >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class _ReflectionPadNd(Module):
    dimensions: int
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = _sides(padding, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The larger input."""
        return functional.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """(*, L) with places at every side whose values are mirrored at the border, which is not repeated.

    `padding`: one number for all sides or (left, right).

    >>> torch.nn.ReflectionPad1d(1)(torch.zeros(1, 2)).shape
    torch.Size([1, 4])
    """

    dimensions = 1


class ReflectionPad2d(_ReflectionPadNd):
    """(*, H, W) with places at every side whose values are mirrored at the border, which is not repeated.

    `padding`: one number for all sides or (left, right, top, bottom).

    >>> torch.nn.ReflectionPad2d(1)(torch.zeros(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    dimensions = 2


class ReflectionPad3d(_ReflectionPadNd):
    """(*, D, H, W) with places at every side whose values are mirrored at the border, which is not repeated.

    `padding`: one number for all sides or (left, right, top, bottom, front, back).

    >>> torch.nn.ReflectionPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dimensions = 3


class _ReplicationPadNd(Module):
    dimensions: int
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = _sides(padding, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The larger input."""
        return functional.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class ReplicationPad1d(_ReplicationPadNd):
    """(*, L) with places at every side whose values are the border again.

    `padding`: one number for all sides or (left, right).

    >>> torch.nn.ReplicationPad1d(1)(torch.zeros(1, 2)).shape
    torch.Size([1, 4])
    """

    dimensions = 1


class ReplicationPad2d(_ReplicationPadNd):
    """(*, H, W) with places at every side whose values are the border again.

    `padding`: one number for all sides or (left, right, top, bottom).

    >>> torch.nn.ReplicationPad2d(1)(torch.zeros(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    dimensions = 2


class ReplicationPad3d(_ReplicationPadNd):
    """(*, D, H, W) with places at every side whose values are the border again.

    `padding`: one number for all sides or (left, right, top, bottom, front, back).

    >>> torch.nn.ReplicationPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dimensions = 3


class _CircularPadNd(Module):
    dimensions: int
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = _sides(padding, self.dimensions)

    def forward(self, input: Tensor) -> Tensor:
        """The larger input."""
        return functional.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        """The places at every side."""
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """(*, L) with places at every side whose values are from the other end.

    `padding`: one number for all sides or (left, right).

    >>> torch.nn.CircularPad1d(1)(torch.zeros(1, 2)).shape
    torch.Size([1, 4])
    """

    dimensions = 1


class CircularPad2d(_CircularPadNd):
    """(*, H, W) with places at every side whose values are from the other end.

    `padding`: one number for all sides or (left, right, top, bottom).

    >>> torch.nn.CircularPad2d(1)(torch.zeros(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    dimensions = 2


class CircularPad3d(_CircularPadNd):
    """(*, D, H, W) with places at every side whose values are from the other end.

    `padding`: one number for all sides or (left, right, top, bottom, front, back).

    >>> torch.nn.CircularPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dimensions = 3
