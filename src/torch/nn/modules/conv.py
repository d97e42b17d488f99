"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import functional, init
from torch.nn._windows import per_dimension
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


class _ConvNd(Module):
    dimensions: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode != "zeros":
            raise NotImplementedError(f"padding_mode={padding_mode!r} is not supported: use functional.pad before")
        number = self.dimensions
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_dimension(kernel_size, number, "kernel_size")
        self.stride = per_dimension(stride, number, "stride")
        self.padding = padding if isinstance(padding, str) else per_dimension(padding, number, "padding")
        self.dilation = per_dimension(dilation, number, "dilation")
        shape = self._weight_shape()
        self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def forward(self, input: Tensor) -> Tensor:
        convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[self.dimensions - 1]
        return convolve(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self.dimensions:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dimensions:
            text += f", dilation={self.dilation}"
        text += self._more_repr()
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text + ("" if self.bias is not None else ", bias=False")

    def _more_repr(self) -> str:
        return ""


class Conv1d(_ConvNd):
    """Cross-correlation of (N, C, L)"""

    dimensions = 1


class Conv2d(_ConvNd):
    """Cross-correlation of (N, C, H, W)"""

    dimensions = 2


class Conv3d(_ConvNd):
    """Cross-correlation of (N, C, D, H, W)"""

    dimensions = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )
        self.output_padding = per_dimension(output_padding, self.dimensions, "output_padding")

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def forward(self, input: Tensor) -> Tensor:
        transposes = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)
        return transposes[self.dimensions - 1](
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,  # type: ignore[arg-type]
            self.output_padding,
            self.groups,
            self.dilation,
        )

    def _more_repr(self) -> str:
        return f", output_padding={self.output_padding}" if any(self.output_padding) else ""


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d: makes signals longer"""

    dimensions = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d: makes images larger"""

    dimensions = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d: makes volumes larger"""

    dimensions = 3
