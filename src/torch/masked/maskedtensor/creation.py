"""`masked_tensor` and `as_masked_tensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.masked.maskedtensor._parts import check_parts
from torch.masked.maskedtensor.core import MaskedTensor, with_mask

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A new leaf with copies of `data` and of `mask`, a tensor of bool in its shape and layout: True is kept.

    Dtypes are float16, float32, float64, bool and the signed integers; layouts strided, sparse COO and sparse CSR,
    where both name the same elements. TypeError and ValueError say what does not fit.

    >>> torch.masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """The same without a new leaf: gradients go on to `data`, and are zero where the mask drops it.

    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.masked.as_masked_tensor(x, torch.tensor([True, False])).sum().backward()
    >>> x.grad
    tensor([1., 0.])
    """
    data, mask = check_parts(data, mask)
    return with_mask(data.clone(), mask.clone())
