"""Activations: the functions that have an option `inplace`, a dimension to choose, or no row of their own."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from torch import _C, float64
from torch.nn.functional._options import choose_softmax_dimension

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_nn, _torch = _C._nn, _C._VariableFunctions


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(0, input)`, element by element; `inplace` writes it into `input`.

    >>> relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return relu_(input) if inplace else _torch.relu(input)


def relu_(input: Tensor) -> Tensor:
    """`max(0, input)`, written into `input`, which is returned.

    >>> relu_(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _C.TensorBase.relu_(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`input` held between 0 and 6.

    >>> relu6(torch.tensor([-1.0, 2.0, 7.0]))
    tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` held between `min_val` and `max_val`. ValueError where `min_val` is the greater.

    >>> hardtanh(torch.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_nn.hardtanh_ if inplace else _nn.hardtanh)(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`input / 6 + 1 / 2`, held between 0 and 1: a sigmoid of straight lines.

    >>> hardsigmoid(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return (_nn.hardsigmoid_ if inplace else _nn.hardsigmoid)(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * hardsigmoid(input)`.

    >>> hardswish(torch.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000,  0.6667,  4.0000])
    """
    return (_nn.hardswish_ if inplace else _nn.hardswish)(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * tanh(softplus(input))`.

    >>> mish(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """
    return (_nn.mish_ if inplace else _nn.mish)(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * sigmoid(input)`, also known as swish.

    >>> silu(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return (_nn.silu_ if inplace else _nn.silu)(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` above 0, `negative_slope * input` below.

    >>> leaky_relu(torch.tensor([-1.0, 1.0]), 0.5)
    tensor([-0.5000,  1.0000])
    """
    return (_nn.leaky_relu_ if inplace else _nn.leaky_relu)(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` above 0, `alpha * (exp(input) - 1)` below.

    >>> elu(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return (_nn.elu_ if inplace else _nn.elu)(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`scale * elu(input, alpha)`, with the two constants that keep mean 0 and variance 1 through layers.

    >>> selu(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return (_torch.selu_ if inplace else _torch.selu)(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """`a * sigmoid(b)` for the halves a and b of `input` along `dim`, whose size must be even (RuntimeError otherwise).

    >>> glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
    return _nn.glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    """`input / (1 + |input|)`.

    >>> softsign(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """`input - tanh(input)`.

    >>> tanhshrink(torch.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-input))`.

    >>> sigmoid(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of `input`.

    >>> tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return input.tanh()


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None) -> Tensor:
    """`softmax(-input)` along `dim`: the smallest element gets the largest share.

    >>> softmin(torch.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    return (-input).softmax(choose_softmax_dimension("softmin", dim, input.dim()), dtype=dtype)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None) -> Tensor:
    """`exp(input) / sum(exp(input))` along `dim`: positive numbers that add up to 1. `dtype`: what to compute in.

    Without `dim` a dimension is chosen, with a warning.

    >>> softmax(torch.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = choose_softmax_dimension("softmax", dim, input.dim())
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """The logarithm of `softmax(input)` along `dim`, exact where the share itself would be 0.

    >>> log_softmax(torch.tensor([0.0, 0.0]), 0)
    tensor([-0.6931, -0.6931])
    """
    if dim is None:
        dim = choose_softmax_dimension("log_softmax", dim, input.dim())
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` above `threshold`, `value` elsewhere.

    >>> threshold(torch.tensor([0.0, 1.0]), 0.5, -1.0)
    tensor([-1.,  1.])
    """
    return (_torch.threshold_ if inplace else _torch.threshold)(input, threshold, value)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` above 0, `alpha * (exp(input / alpha) - 1)` below. RuntimeError for an `alpha` of 0.

    >>> celu(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return (_torch.celu_ if inplace else _torch.celu)(input, alpha)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` moved towards 0 by `lambd`; 0 within [-lambd, lambd]. RuntimeError for a negative `lambd`.

    >>> softshrink(torch.tensor([-1.0, 0.3]))
    tensor([-0.5000,  0.0000])
    """
    return _nn.softshrink(input, lambd)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """`input` above 0, `a * input` below: in `training` a is drawn from [lower, upper) each time, else their mean.

    >>> rrelu(torch.tensor([-1.0, 1.0]), 0.2, 0.4)
    tensor([-0.3000,  1.0000])
    """
    return (_torch.rrelu_ if inplace else _torch.rrelu)(input, lower, upper, training)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """`rrelu`, written into `input`, which is returned.

    >>> rrelu_(torch.tensor([-1.0, 1.0]), 0.2, 0.4)
    tensor([-0.3000,  1.0000])
    """
    return rrelu(input, lower, upper, training, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold`, written into `input`, which is returned.

    >>> threshold_(torch.tensor([0.0, 1.0]), 0.5, -1.0)
    tensor([-1.,  1.])
    """
    return _torch.threshold_(input, threshold, value)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu`, written into `input`, which is returned.

    >>> celu_(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return celu(input, alpha, inplace=True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, written into `input`, which is returned.

    >>> elu_(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """`selu`, written into `input`, which is returned.

    >>> selu_(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return selu(input, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, written into `input`, which is returned.

    >>> hardtanh_(torch.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    return hardtanh(input, min_val, max_val, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu`, written into `input`, which is returned.

    >>> leaky_relu_(torch.tensor([-1.0, 1.0]), 0.5)
    tensor([-0.5000,  1.0000])
    """
    return leaky_relu(input, negative_slope, inplace=True)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Random shares along `dim`: the softmax of logits with Gumbel noise, over a temperature `tau`.

    `hard`: 1 for the largest share and 0 for all others, with the gradient of the shares. `eps` is not used.

    >>> gumbel_softmax(torch.zeros(2, 3), hard=True).sum(-1)
    tensor([1., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    if logits.is_cuda:
        exponential = _torch.empty_like(logits.detach()).exponential_()
    else:  # PyTorch's numbers there are of float64
        exponential = -(-_torch.rand(logits.shape, dtype=float64, device=logits.device)).log1p()
    shares = ((logits - exponential.log().to(logits.dtype)) / tau).softmax(dim)
    if not hard:
        return shares
    largest = shares.detach().max(dim, keepdim=True)[1]
    return _torch.zeros_like(logits.detach()).scatter_(dim, largest, 1.0) - shares.detach() + shares
