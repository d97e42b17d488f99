"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules._tuples import per_dimension
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter, UninitializedParameter, is_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have: weight, bias, their first values, and the text of repr()."""

    dimensions: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...] | str,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
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
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        # As functional.pad takes it: the last dimension first, before and after.
        if isinstance(padding, str):
            # Tuples of other lengths are refused by the convolution, as in PyTorch.
            totals = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size, strict=False)]
            sides = [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
            self._reversed_padding_repeated_twice: Any = sides
        else:
            self._reversed_padding_repeated_twice = tuple(amount for amount in reversed(padding) for _ in range(2))
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(torch.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, uniformly in +-1 / sqrt(elements of a window)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self) -> str:
        """Channels, kernel and stride, and what is not the default."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, default in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (default,) * self.dimensions:
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text + ("" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")  # models of PyTorch before 1.1


class _Convolution(_ConvNd):
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
        number = self.dimensions
        super().__init__(
            in_channels,
            out_channels,
            per_dimension(kernel_size, number),
            per_dimension(stride, number),
            padding if isinstance(padding, str) else per_dimension(padding, number),
            per_dimension(dilation, number),
            False,
            (0,) * number,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of `input` with the module's weight."""
        convolve: Any = (functional.conv1d, functional.conv2d, functional.conv3d)[self.dimensions - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.dimensions
        result: Tensor = convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        return result


class Conv1d(_Convolution):
    """Cross-correlates signals with filters that are learned: (N, in_channels, L) -> (N, out_channels, L').

    A signal without a batch, (in_channels, L), is taken, too. L' = (L + 2 padding - dilation (kernel_size - 1) - 1) //
    stride + 1. `weight` has the shape (out_channels, in_channels / groups, kernel_size), `bias` (out_channels).

    padding: places added at both ends, or "same" (L' = L, for stride 1) or "valid" (none).
    dilation: the distance between the elements of a filter.
    groups: into how many parts channels are split, each with filters of its own; it divides both numbers of channels.
    padding_mode: "zeros", "reflect", "replicate" or "circular", what the places at the ends hold.

    >>> torch.nn.Conv1d(2, 4, kernel_size=3, padding=1)(torch.zeros(1, 2, 10)).shape
    torch.Size([1, 4, 10])
    """

    dimensions = 1


class Conv2d(_Convolution):
    """Cross-correlates images with filters that are learned: (N, in_channels, H, W) -> (N, out_channels, H', W').

    An image without a batch, (in_channels, H, W), is taken, too. Each option of size is one number for both dimensions
    or a pair, and H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1, likewise W'. `weight` has the
    shape (out_channels, in_channels / groups, *kernel_size), `bias` (out_channels); both start uniform in +-1 / sqrt(n)
    for the n elements that one output reads.

    stride: how far a window is from its neighbour.
    padding: places added at every border, or "same" (H' = H and W' = W, for stride 1) or "valid" (none).
    dilation: the distance between the elements of a filter.
    groups: into how many parts channels are split, each with filters of its own; it divides both numbers of channels.
    bias: whether each output channel has a number that is added to it.
    padding_mode: "zeros", "reflect", "replicate" or "circular", what the places at the borders hold.

    ValueError for options that do not belong together; RuntimeError in the call for an input of other channels or one
    that is smaller than a window.

    >>> layer = torch.nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)
    >>> layer.weight.shape
    torch.Size([8, 3, 3, 3])
    >>> layer(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 8, 16, 16])
    """

    dimensions = 2


class Conv3d(_Convolution):
    """Cross-correlates volumes with filters that are learned: (N, in_channels, D, H, W) -> (N, out_channels, D', H',
    W').

    Options are those of `Conv2d`, one number for all dimensions or three.

    >>> torch.nn.Conv3d(1, 2, kernel_size=2)(torch.zeros(1, 1, 4, 4, 4)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        number = self.dimensions
        super().__init__(
            in_channels,
            out_channels,
            per_dimension(kernel_size, number),
            per_dimension(stride, number),
            per_dimension(padding, number),
            per_dimension(dilation, number),
            True,
            per_dimension(output_padding, number),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What must be added at the ends for a result of `output_size`. ValueError if no result has that size."""
        if output_size is None:
            return self.output_padding
        sizes = tuple(output_size)
        if len(sizes) == input.dim():
            sizes = sizes[-self.dimensions :]
        if len(sizes) != self.dimensions:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {self.dimensions} or "
                f"{input.dim()} elements (got {len(sizes)})"
            )
        padding: Any = self.padding
        least = [
            (input.size(number - self.dimensions) - 1) * self.stride[number]
            - 2 * padding[number]
            + self.dilation[number] * (self.kernel_size[number] - 1)
            + 1
            for number in range(self.dimensions)
        ]
        greatest = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, sizes, greatest, strict=True)):
            raise ValueError(
                f"requested an output size of {sizes}, but valid sizes range from {least} to {greatest} (for an input "
                f"of {input.size()[2:]})"
            )
        return tuple(size - low for size, low in zip(sizes, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The transposed convolution of `input`; `output_size` chooses among the sizes that its windows could come
        from."""
        transposes = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)
        transpose: Any = transposes[self.dimensions - 1]
        extra = self._output_padding(input, output_size)
        result: Tensor = transpose(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return result


class _ConvTransposeMixin(_ConvTransposeNd):
    """The old name of `_ConvTransposeNd`, which libraries compare classes with."""


class ConvTranspose1d(_ConvTransposeNd):
    """Lays filters that are learned over signals, one for each element: (N, in_channels, L) -> (N, out_channels, L').

    The gradient of `Conv1d` with respect to its input. L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) +
    output_padding + 1. `weight` has the shape (in_channels, out_channels / groups, kernel_size).

    >>> torch.nn.ConvTranspose1d(2, 1, kernel_size=2, stride=2)(torch.zeros(1, 2, 5)).shape
    torch.Size([1, 1, 10])
    """

    dimensions = 1


class ConvTranspose2d(_ConvTransposeNd):
    """Lays filters that are learned over images, one for each pixel: (N, in_channels, H, W) -> (N, out_channels, H',
    W').

    The gradient of `Conv2d` with respect to its input, which makes images larger. H' = (H - 1) stride - 2 padding +
    dilation (kernel_size - 1) + output_padding + 1, likewise W'. `output_padding` must be smaller than stride or
    dilation. `weight` has the shape (in_channels, out_channels / groups, *kernel_size).

    >>> torch.nn.ConvTranspose2d(3, 1, kernel_size=2, stride=2)(torch.zeros(1, 3, 8, 8)).shape
    torch.Size([1, 1, 16, 16])
    """

    dimensions = 2


class ConvTranspose3d(_ConvTransposeNd):
    """Lays filters that are learned over volumes: (N, in_channels, D, H, W) -> (N, out_channels, D', H', W').

    Options are those of `ConvTranspose2d`, one number for all dimensions or three.

    >>> torch.nn.ConvTranspose3d(1, 1, kernel_size=2, stride=2)(torch.zeros(1, 1, 2, 2, 2)).shape
    torch.Size([1, 1, 4, 4, 4])
    """

    dimensions = 3


class _LazyConv(LazyModuleMixin, _ConvNd):
    """What lazy convolutions share: no input channels until the first input."""

    def __init__(self, out_channels: int, kernel_size: Sizes, *args: Any, **kwargs: Any) -> None:
        position = 4 if self._transposes else 5
        options = list(args)
        bias = kwargs.pop("bias", True)
        if len(options) > position:
            bias, options[position] = options[position], False
            super().__init__(0, 0, kernel_size, *options, **kwargs)  # type: ignore[arg-type]
        else:
            super().__init__(0, 0, kernel_size, *options, bias=False, **kwargs)  # type: ignore[call-arg,arg-type]
        made: dict[str, Any] = {name: kwargs.get(name) for name in ("device", "dtype")}
        self.weight = UninitializedParameter(**made)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**made)

    _transposes = False

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Takes the channels of the input for `in_channels`."""
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self.dimensions + 1, self.dimensions + 2):
            raise RuntimeError(
                f"Expected {self.dimensions + 1}D (unbatched) or {self.dimensions + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-self.dimensions - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        ends = (self.in_channels, self.out_channels)
        inner, outer = ends if self.transposed else ends[::-1]
        if is_lazy(self.weight):
            self.weight.materialize((inner, outer // self.groups, *self.kernel_size))  # type: ignore[attr-defined]
        if is_lazy(self.bias):
            self.bias.materialize((self.out_channels,))  # type: ignore[union-attr]
        self.reset_parameters()


class _LazyConvTranspose(_LazyConv):
    _transposes = True


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConv1d(2, 2)(torch.zeros(1, 3, 4)).shape
    torch.Size([1, 2, 3])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConv2d(2, 2)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 2, 3, 3])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConv3d(2, 2)(torch.zeros(1, 3, 4, 4, 4)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConvTranspose1d(2, 2)(torch.zeros(1, 3, 4)).shape
    torch.Size([1, 2, 5])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConvTranspose2d(2, 2)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 2, 5, 5])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` whose `in_channels` are those of its first input; its other options are the same.

    >>> torch.nn.LazyConvTranspose3d(2, 2)(torch.zeros(1, 3, 4, 4, 4)).shape
    torch.Size([1, 2, 5, 5, 5])
    """

    cls_to_become = ConvTranspose3d
