"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar

import torch
from torch.nn import functional
from torch.nn.modules._attention import MultiheadAttention as MultiheadAttention
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch import Tensor


class _Activation(Module):
    """Shows its options: `__constants__` of PyTorch, of which `inplace` comes last, and only where it is true."""

    __constants__: ClassVar[list[str]] = []

    def extra_repr(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__constants__ if name != "inplace"]
        return ", ".join([*shown, "inplace=True"] if getattr(self, "inplace", False) else shown)


class _Inplace(_Activation):
    """An activation that may overwrite its input."""

    __constants__: ClassVar[list[str]] = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _SilentInplace(_Inplace):
    """An activation that may overwrite its input, which its text does not say."""

    def extra_repr(self) -> str:
        return ""


class _AlongDim(_Activation):
    """An activation along a dimension."""

    __constants__: ClassVar[list[str]] = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class ReLU(_Inplace):
    """`max(0, x)`, element by element; `inplace` overwrites the input.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, inplace=self.inplace)


class SiLU(_Inplace):
    """`x * sigmoid(x)`, element by element.

    >>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """`x * tanh(log(1 + exp(x)))`, element by element.

    >>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.mish(input, self.inplace)


class SELU(_Inplace):
    """`scale * elu(x, alpha)`, with the two constants that keep mean 0 and variance 1 through layers.

    >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.selu(input, self.inplace)


class Hardswish(_SilentInplace):
    """`x * hardsigmoid(x)`, element by element.

    >>> torch.nn.Hardswish()(torch.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000,  0.6667,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardswish(input, self.inplace)


class Hardsigmoid(_SilentInplace):
    """`x / 6 + 1 / 2`, held between 0 and 1: a sigmoid of straight lines.

    >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardsigmoid(input, self.inplace)


class Hardtanh(_Activation):
    """Each element held between `min_val` and `max_val`, of which the second must be the greater.

    >>> torch.nn.Hardtanh()(torch.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    __constants__: ClassVar[list[str]] = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, new, value in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if value is not None:
                text = f"keyword argument `{old}` is deprecated and renamed to `{new}`"
                warnings.warn(text, FutureWarning, stacklevel=2)
        min_val, max_val = (min_val if min_value is None else min_value, max_val if max_value is None else max_value)
        if max_val <= min_val:
            raise AssertionError("max_val must be larger than min_val")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """Each element held between 0 and 6.

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`, element by element.

    >>> torch.nn.Sigmoid()(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class LogSigmoid(Module):
    """`log(sigmoid(x))`, element by element, exact where the sigmoid itself would be 0.

    >>> torch.nn.LogSigmoid()(torch.tensor([0.0, -100.0]))
    tensor([  -0.6931, -100.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.logsigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent of each element.

    >>> torch.nn.Tanh()(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Tanhshrink(Module):
    """`x - tanh(x)`, element by element.

    >>> torch.nn.Tanhshrink()(torch.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanhshrink(input)


class Softsign(Module):
    """`x / (1 + |x|)`, element by element.

    >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.softsign(input)


class GELU(_Activation):
    """`x * P(X <= x)` for a normally distributed X; `approximate="tanh"` takes a tanh for P.

    >>> torch.nn.GELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.1587,  0.8413])
    """

    __constants__: ClassVar[list[str]] = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return functional.gelu(input, approximate=self.approximate)


class LeakyReLU(_Activation):
    """`x` above 0, `negative_slope * x` below.

    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  1.0000])
    """

    __constants__: ClassVar[list[str]] = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Activation):
    """`x` above 0, `alpha * (exp(x) - 1)` below.

    >>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)


class Softplus(_Activation):
    """`log(1 + exp(beta * x)) / beta`, a smooth ReLU; `x` itself where `beta * x` is above `threshold`.

    >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    __constants__: ClassVar[list[str]] = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return functional.softplus(input, self.beta, self.threshold)


class Softmin(_AlongDim):
    """`softmax(-x)` along `dim`: the smallest element gets the largest share.

    >>> torch.nn.Softmin(0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmin(input, self.dim)


class Softmax(_AlongDim):
    """`exp(x) / sum(exp(x))` along `dim`: positive numbers that add up to 1.

    >>> torch.nn.Softmax(0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of the softmax along `dim`, exact where the share itself would be 0.

    >>> torch.nn.LogSoftmax(0)(torch.tensor([1.0, 1.0]))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim)


class GLU(_AlongDim):
    """`a * sigmoid(b)` for the halves a and b of the input along `dim`, whose size must be even.

    >>> torch.nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)


class PReLU(_Activation):
    """`x` above 0, `weight * x` below, with a weight that is learned: one, or one for each channel (dimension 1).

    `num_parameters`: 1 or the number of channels; `init`: the weight's first value.

    >>> torch.nn.PReLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2500,  1.0000], grad_fn=<WhereBackward0>)
    """

    __constants__: ClassVar[list[str]] = ["num_parameters"]

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(torch.full((num_parameters,), float(init), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)


class Threshold(_Activation):
    """`x` above `threshold`, `value` elsewhere.

    >>> torch.nn.Threshold(0.5, -1.0)(torch.tensor([0.0, 1.0]))
    tensor([-1.,  1.])
    """

    __constants__: ClassVar[list[str]] = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(_Activation):
    """`x` above 0, `a * x` below: a is drawn from [lower, upper) for each element in training, else their mean.

    >>> torch.nn.RReLU(0.2, 0.4).eval()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3000,  1.0000])
    """

    __constants__: ClassVar[list[str]] = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class CELU(_Activation):
    """`x` above 0, `alpha * (exp(x / alpha) - 1)` below.

    >>> torch.nn.CELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.celu(input, self.alpha, self.inplace)


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """`x` outside of [-lambd, lambd], 0 within.

    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.3]))
    tensor([-1.,  0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """`x` moved towards 0 by `lambd`; 0 within [-lambd, lambd].

    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.3]))
    tensor([-0.5000,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


class Softmax2d(Module):
    """The softmax over the channels of (N, C, H, W) or (C, H, W), at every place.

    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3, _stacklevel=5)
