"""Looking vectors up in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import _C
from torch.nn.functional._options import refuse

if TYPE_CHECKING:
    from torch import Tensor


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names: indices (*), table (rows, columns) -> (*, columns).

    Indices are int64 or int32. Row `padding_idx` (negative: counted from the end) gets no gradient. NotImplementedError
    for `max_norm`, `scale_grad_by_freq` and `sparse`.

    >>> embedding(torch.tensor([1, 0]), torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    tensor([[2., 3.],
            [0., 1.]])
    """
    refuse("embedding", max_norm=max_norm, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
    if norm_type != 2.0:
        raise NotImplementedError("embedding(norm_type=...) only matters with max_norm, which is not supported")
    if padding_idx is not None:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    return _C._VariableFunctions.embedding(weight, input, -1 if padding_idx is None else padding_idx)
