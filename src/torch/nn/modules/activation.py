"""Activations as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch import Tensor


class _Inplace(Module):
    """An activation that may overwrite its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """The options."""
        return "inplace=True" if self.inplace else ""


class _SilentInplace(Module):
    """An activation that may overwrite its input, which its text does not say."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_Inplace):
    """`max(0, x)`, element by element; `inplace` overwrites the input.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.relu(input, inplace=self.inplace)


class SiLU(_Inplace):
    """`x * sigmoid(x)`, element by element.

    >>> torch.nn.SiLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """`x * tanh(log(1 + exp(x)))`, element by element.

    >>> torch.nn.Mish()(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.mish(input, self.inplace)


class SELU(_Inplace):
    """`scale * elu(x, alpha)`, with the two constants that keep mean 0 and variance 1 through layers.

    >>> torch.nn.SELU()(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.selu(input, self.inplace)


class Hardswish(_SilentInplace):
    """`x * hardsigmoid(x)`, element by element.

    >>> torch.nn.Hardswish()(torch.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000,  0.6667,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.hardswish(input, self.inplace)


class Hardsigmoid(_SilentInplace):
    """`x / 6 + 1 / 2`, held between 0 and 1: a sigmoid of straight lines.

    >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.hardsigmoid(input, self.inplace)


class Hardtanh(Module):
    """Each element held between `min_val` and `max_val`, of which the second must be the greater.

    >>> torch.nn.Hardtanh()(torch.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        if max_val <= min_val:
            raise AssertionError("max_val must be larger than min_val")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """Each element held between 0 and 6.

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """The options."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`, element by element.

    >>> torch.nn.Sigmoid()(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return input.sigmoid()


class LogSigmoid(Module):
    """`log(sigmoid(x))`, element by element, exact where the sigmoid itself would be 0.

    >>> torch.nn.LogSigmoid()(torch.tensor([0.0, -100.0]))
    tensor([  -0.6931, -100.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.logsigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent of each element.

    >>> torch.nn.Tanh()(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return input.tanh()


class Tanhshrink(Module):
    """`x - tanh(x)`, element by element.

    >>> torch.nn.Tanhshrink()(torch.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.tanhshrink(input)


class Softsign(Module):
    """`x / (1 + |x|)`, element by element.

    >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.softsign(input)


class GELU(Module):
    """`x * P(X <= x)` for a normally distributed X; `approximate="tanh"` takes a tanh for P.

    >>> torch.nn.GELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.1587,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The options."""
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """`x` above 0, `negative_slope * x` below.

    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 1.0]))
    tensor([-0.5000,  1.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """`x` above 0, `alpha * (exp(x) - 1)` below.

    >>> torch.nn.ELU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, a smooth ReLU; `x` itself where `beta * x` is above `threshold`.

    >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softmin(Module):
    """`softmax(-x)` along `dim`: the smallest element gets the largest share.

    >>> torch.nn.Softmin(0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.softmin(input, self.dim)

    def extra_repr(self) -> str:
        """The options."""
        return f"dim={self.dim}"


class Softmax(Module):
    """`exp(x) / sum(exp(x))` along `dim`: positive numbers that add up to 1.

    >>> torch.nn.Softmax(0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """The options."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of the softmax along `dim`, exact where the share itself would be 0.

    >>> torch.nn.LogSoftmax(0)(torch.tensor([1.0, 1.0]))
    tensor([-0.6931, -0.6931])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        """The options."""
        return f"dim={self.dim}"


class GLU(Module):
    """`a * sigmoid(b)` for the halves a and b of the input along `dim`, whose size must be even.

    >>> torch.nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """What the class says, of these tensors."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The options."""
        return f"dim={self.dim}"


class PReLU(Module):
    """`x` above 0, `weight * x` below, with a weight that is learned: one, or one for each channel (dimension 1).

    `num_parameters`: 1 or the number of channels; `init`: the weight's first value.

    >>> torch.nn.PReLU()(torch.tensor([-1.0, 1.0]))
    tensor([-0.2500,  1.0000], grad_fn=<WhereBackward0>)
    """

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
        """What the class says, of these tensors."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The options."""
        return f"num_parameters={self.num_parameters}"
