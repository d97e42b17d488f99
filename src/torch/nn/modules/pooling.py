"""Pooling over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


def _number(value: Sizes) -> Any:
    return value if isinstance(value, int) else tuple(value)


class _MaxPoolNd(Module):
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


class MaxPool1d(_MaxPoolNd):
    """The largest value of each window of (N, C, L)"""

    def forward(self, input: Tensor) -> Tensor:
        return functional.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation)


class MaxPool2d(_MaxPoolNd):
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
