"""Modules for signals and images: convolutions, pooling, batch normalisation, dropout of channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn._windows import per_dimension
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


def _number(value: Sizes) -> Any:
    return value if isinstance(value, int) else tuple(value)


class _Conv(Module):
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


class Conv1d(_Conv):
    """Cross-correlation of (N, C, L)"""

    dimensions = 1


class Conv2d(_Conv):
    """Cross-correlation of (N, C, H, W)"""

    dimensions = 2


class Conv3d(_Conv):
    """Cross-correlation of (N, C, D, H, W)"""

    dimensions = 3


class _ConvTranspose(_Conv):
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


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d: makes signals longer"""

    dimensions = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d: makes images larger"""

    dimensions = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of Conv3d: makes volumes larger"""

    dimensions = 3


class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        if return_indices or ceil_mode:
            raise NotImplementedError(
                f"{type(self).__name__}: return_indices and ceil_mode are not supported: leave them out"
            )
        self.kernel_size = _number(kernel_size)
        self.stride = self.kernel_size if stride is None else _number(stride)
        self.padding, self.dilation, self.ceil_mode = _number(padding), _number(dilation), ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest value of each window of (N, C, L)"""

    def forward(self, input: Tensor) -> Tensor:
        return functional.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation)


class MaxPool2d(_MaxPool):
    """The largest value of each window of (N, C, H, W)"""

    def forward(self, input: Tensor) -> Tensor:
        return functional.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation)


class AvgPool2d(Module):
    """The mean of each window of (N, C, H, W)"""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        if ceil_mode:
            raise NotImplementedError("AvgPool2d(ceil_mode=True) is not supported: leave it out")
        self.kernel_size = _number(kernel_size)
        self.stride = self.kernel_size if stride is None else _number(stride)
        self.padding, self.count_include_pad, self.divisor_override = (
            _number(padding),
            count_include_pad,
            divisor_override,
        )

    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, False, self.count_include_pad, self.divisor_override
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool2d(Module):
    """Means over as many windows as wanted"""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _BatchNorm(Module):
    allowed: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(torch.empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        tracked = track_running_stats
        self.register_buffer("running_mean", torch.zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", torch.ones(num_features, device=device, dtype=dtype) if tracked else None)
        counter = torch.tensor(0, dtype=torch.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets the batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forgets the batches seen; scale 1, shift 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in self.allowed:
            words = " or ".join(f"{count}D" for count in self.allowed)
            raise ValueError(f"expected {words} input (got {input.dim()}D input)")
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or not self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Normalises the channels of (N, C) or (N, C, L)"""

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises the channels of (N, C, H, W)"""

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises the channels of (N, C, D, H, W)"""

    allowed = (5,)


class Dropout2d(Module):
    """In training, zeroes whole channels of (N, C, H, W) with probability `p`"""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
