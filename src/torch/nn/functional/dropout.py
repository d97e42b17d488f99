"""Dropout of elements and of channels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from torch import Tensor

_torch = _C._VariableFunctions


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In `training`, `input` with each element zeroed with probability `p` and the others divided by 1 - p.

    Otherwise `input` itself. ValueError for a `p` outside of [0, 1].

    >>> dropout(torch.ones(3), p=1.0)
    tensor([0., 0., 0.])
    >>> dropout(torch.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    _check_probability(p)
    return (_torch.dropout_ if inplace else _torch.dropout)(input, p, training)


def _drop_channels(input: Tensor, p: float, training: bool, inplace: bool, dimensions: int) -> Tensor:
    _check_probability(p)
    if input.dim() not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"dropout{dimensions}d: Expected {dimensions + 1}D or {dimensions + 2}D input, but received "
            f"a {input.dim()}D input"
        )
    drop: Any = _torch.feature_dropout_ if inplace else _torch.feature_dropout
    single = input.dim() == dimensions + 1
    result: Tensor = drop(input.unsqueeze(0) if single else input, p, training)
    return result.squeeze(0) if single else result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In `training`, whole channels of (N, C, L) or (C, L) zeroed with probability `p`, the others divided by 1 - p.

    >>> dropout1d(torch.ones(1, 2, 3), p=1.0).sum()
    tensor(0.)
    """
    return _drop_channels(input, p, training, inplace, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In `training`, whole channels of (N, C, H, W) zeroed with probability `p`, the others divided by 1 - p.

    Three dimensions are taken as (N, C, L), with a warning.

    >>> dropout2d(torch.ones(1, 2, 3, 3), p=1.0).sum()
    tensor(0.)
    """
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input, which is taken as (N, C, L): whole rows of dimension 2 are dropped. Use "
            "dropout1d to say so.",
            stacklevel=3,
        )
        return _drop_channels(input, p, training, inplace, 1)
    return _drop_channels(input, p, training, inplace, 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In `training`, whole channels of (N, C, D, H, W) or (C, D, H, W) zeroed with probability `p`.

    >>> dropout3d(torch.ones(1, 2, 3, 3, 3), p=1.0).sum()
    tensor(0.)
    """
    return _drop_channels(input, p, training, inplace, 3)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """In `training`, `input` with each element set to SELU's lowest value with probability `p`; mean and variance stay.

    >>> alpha_dropout(torch.ones(3), p=0.5)
    tensor([1., 1., 1.])
    """
    _check_probability(p)
    return (_torch.alpha_dropout_ if inplace else _torch.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1). RuntimeError in training for less than two dimensions.

    >>> feature_alpha_dropout(torch.ones(1, 2, 3), p=0.5).sum()
    tensor(6.)
    """
    _check_probability(p)
    return (_torch.feature_alpha_dropout_ if inplace else _torch.feature_alpha_dropout)(input, p, training)
