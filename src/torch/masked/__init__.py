"""Reductions and normalisations of the elements that a mask keeps, as if the others were not there.

`mask` is a tensor of bool that broadcasts to `input`; without one all elements count. Rows that have no element give
what the operation gives of nothing: 0 for a sum, NaN for a mean. A `MaskedTensor` carries its mask from one function to
the next; gradients have the masks of the tensors that they are of, those of plain tensors have none.
"""

from torch.masked._ops import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)
from torch.masked.maskedtensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
