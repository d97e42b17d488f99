"""Pooling over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn import functional
from torch.nn.modules._tuples import as_tuple, per_dimension
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


class _MaxPoolNd(Module):
    return_indices: bool
    ceil_mode: bool

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
        self.kernel_size: Any = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _options(self) -> tuple[Any, ...]:
        options = (self.kernel_size, self.stride, self.padding, self.dilation)
        return (*options, self.ceil_mode, self.return_indices)

    def extra_repr(self) -> str:
        """The options of windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest value of each window of signals: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    `stride` defaults to `kernel_size`. `padding` adds places without a value at both ends, at most half a window.
    `return_indices`: also where each value stood. `ceil_mode`: a last window that is not full counts.

    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.max_pool1d(input, *self._options())


class MaxPool2d(_MaxPoolNd):
    """The largest value of each window of images: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    Each option of size is one number for both dimensions or a pair; H' = (H + 2 padding - dilation (kernel_size - 1) -
    1) / stride + 1, rounded down, or up with `ceil_mode`; likewise W'. `stride` defaults to `kernel_size`.
    `return_indices`: the result is (values, indices), the latter int64 and counted row by row.

    >>> torch.nn.MaxPool2d(2)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 3, 16, 16])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.max_pool2d(input, *self._options())


class MaxPool3d(_MaxPoolNd):
    """The largest value of each window of volumes: (N, C, D, H, W) -> (N, C, D', H', W'). Options as in `MaxPool2d`.

    >>> torch.nn.MaxPool3d(2)(torch.zeros(1, 1, 4, 4, 4)).shape
    torch.Size([1, 1, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.max_pool3d(input, *self._options())


class _AvgPoolNd(Module):
    def extra_repr(self) -> str:
        """The options of windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of signals: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    `count_include_pad`: whether the zeros of `padding` count in the mean.

    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, 1)
        self.stride = per_dimension(kernel_size if stride is None else stride, 1)
        self.padding = per_dimension(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class _AvgPoolWithDivisor(_AvgPoolNd):
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
        self.kernel_size: Any = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.padding: Any = padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def _options(self) -> tuple[Any, ...]:
        options = (self.kernel_size, self.stride, self.padding)
        return (*options, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPoolWithDivisor):
    """The mean of each window of images: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    Sizes are those of `MaxPool2d`. `count_include_pad`: whether the zeros of `padding` count in the mean;
    `divisor_override`: what sums are divided by instead of the number of elements (not 0).

    >>> torch.nn.AvgPool2d(2)(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]))
    tensor([[[2.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.avg_pool2d(input, *self._options())


class AvgPool3d(_AvgPoolWithDivisor):
    """The mean of each window of volumes: (N, C, D, H, W) -> (N, C, D', H', W'). Options as in `AvgPool2d`.

    >>> torch.nn.AvgPool3d(2)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.avg_pool3d(input, *self._options())


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of as many windows as wanted, which share a signal evenly: (N, C, L) -> (N, C, output_size).

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of as many windows as wanted, which share an image evenly: (N, C, H, W) -> (N, C, *output_size).

    `output_size`: one number for both dimensions or a pair; None keeps the input's size.

    >>> torch.nn.AdaptiveAvgPool2d((1, None))(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]))
    tensor([[[2.5000, 2.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of as many windows as wanted: (N, C, D, H, W) -> (N, C, *output_size); None keeps the input's size.

    >>> torch.nn.AdaptiveAvgPool3d(1)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return functional.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = as_tuple(output_size), return_indices

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest values of as many windows as wanted: (N, C, L) -> (N, C, output_size), with their places on demand.

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest values of as many windows as wanted: (N, C, H, W) -> (N, C, *output_size); None keeps a size.

    >>> torch.nn.AdaptiveMaxPool2d(1)(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]))
    tensor([[[4.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest values of as many windows as wanted: (N, C, D, H, W) -> (N, C, *output_size); None keeps a size.

    >>> torch.nn.AdaptiveMaxPool3d(1)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        return functional.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _MaxUnpoolNd(Module):
    dimensions: int

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.dimensions)
        self.stride = per_dimension(kernel_size if stride is None else stride, self.dimensions)
        self.padding = per_dimension(padding, self.dimensions)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Values at their places."""
        unpool = (functional.max_unpool1d, functional.max_unpool2d, functional.max_unpool3d)[self.dimensions - 1]
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """The options of windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _LPPoolNd(Module):
    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def extra_repr(self) -> str:
        """The options of windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _FractionalMaxPoolNd(Module):
    dimensions: int

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        count = self.dimensions
        self.kernel_size = per_dimension(kernel_size, count)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_dimension(output_size, count)
        self.output_ratio: Any = None
        if output_ratio is not None:
            single = isinstance(output_ratio, (int, float))
            self.output_ratio = (output_ratio,) * count if single else tuple(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"FractionalMaxPool{count}d requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with `return_indices` their places."""
        pool = functional.fractional_max_pool2d if self.dimensions == 2 else functional.fractional_max_pool3d
        options = (self.kernel_size, self.output_size, self.output_ratio, self.return_indices)
        return pool(input, *options, _random_samples=self._random_samples)


class MaxUnpool1d(_MaxUnpoolNd):
    """Undoes `MaxPool1d`: (N, C, L) and indices -> values at their places, 0 elsewhere.

    The call takes `output_size` where several sizes fit. ValueError for one that does not.

    >>> pool, unpool = torch.nn.MaxPool1d(2, return_indices=True), torch.nn.MaxUnpool1d(2)
    >>> unpool(*pool(torch.zeros(1, 1, 4))).shape
    torch.Size([1, 1, 4])
    """

    dimensions = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Undoes `MaxPool2d`: (N, C, H, W) and indices -> values at their places, 0 elsewhere.

    The call takes `output_size` where several sizes fit. ValueError for one that does not.

    >>> pool, unpool = torch.nn.MaxPool2d(2, return_indices=True), torch.nn.MaxUnpool2d(2)
    >>> unpool(*pool(torch.zeros(1, 1, 4, 4))).shape
    torch.Size([1, 1, 4, 4])
    """

    dimensions = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Undoes `MaxPool3d`: (N, C, D, H, W) and indices -> values at their places, 0 elsewhere.

    The call takes `output_size` where several sizes fit. ValueError for one that does not.

    >>> pool, unpool = torch.nn.MaxPool3d(2, return_indices=True), torch.nn.MaxUnpool3d(2)
    >>> unpool(*pool(torch.zeros(1, 1, 4, 4, 4))).shape
    torch.Size([1, 1, 4, 4, 4])
    """

    dimensions = 3


class LPPool1d(_LPPoolNd):
    """The norm of order `norm_type` of each window: (N, C, L) -> (N, C, L'). Sizes are those of `MaxPool1d`.

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return functional.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The norm of order `norm_type` of each window: (N, C, H, W) -> (N, C, H', W'). Sizes are those of `MaxPool2d`.

    >>> torch.nn.LPPool2d(2, (1, 2))(torch.tensor([[[3.0, 4.0]]]))
    tensor([[[5.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return functional.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The norm of order `norm_type` of each window: (N, C, D, H, W) -> (N, C, D', H', W'). Sizes as in `MaxPool3d`.

    >>> torch.nn.LPPool3d(2, (1, 1, 2))(torch.tensor([[[[3.0, 4.0]]]]))
    tensor([[[[5.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return functional.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest values of windows at random, as many as wanted: (N, C, H, W) -> (N, C, *output_size).

    `output_ratio`, between 0 and 1, gives the size as a share of the input's. `return_indices`: also where each value
    stood. ValueError for both sizes, or neither.

    >>> torch.nn.FractionalMaxPool2d(2, output_size=2)(torch.zeros(1, 1, 5, 5)).shape
    torch.Size([1, 1, 2, 2])
    """

    dimensions = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest values of windows at random, as many as wanted: (N, C, D, H, W) -> (N, C, *output_size).

    `output_ratio`, between 0 and 1, gives the size as a share of the input's. `return_indices`: also where each value
    stood. ValueError for both sizes, or neither.

    >>> torch.nn.FractionalMaxPool3d(2, output_size=2)(torch.zeros(1, 1, 5, 5, 5)).shape
    torch.Size([1, 1, 2, 2, 2])
    """

    dimensions = 3
