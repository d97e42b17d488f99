"""torch.masked: each operation as if the elements that the mask drops were not there."""

from __future__ import annotations

import math
from typing import Any

import pytest

import torch
from torch import masked

X = torch.tensor([[3.0, -1.0, 2.0, 5.0], [4.0, 0.5, -2.0, 1.0]], dtype=torch.float64)
MASK = torch.tensor([[True, False, True, True], [False, True, True, False]])
KEPT = [row[mask] for row, mask in zip(X, MASK, strict=True)]


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "amin", "logsumexp", "var", "std", "norm"])
def test_reductions_are_those_of_what_is_kept(name: str) -> None:
    plain: dict[str, Any] = {"logsumexp": lambda x: x.logsumexp(0), "norm": lambda x: x.norm()}
    function = getattr(masked, name)
    each = [plain.get(name, getattr(torch, name, None))(row) for row in KEPT]
    torch.testing.assert_close(function(X, dim=1, mask=MASK), torch.stack(each))
    assert function(X, dim=1, keepdim=True, mask=MASK).shape == (2, 1)
    torch.testing.assert_close(function(X, mask=MASK), plain.get(name, getattr(torch, name, None))(torch.cat(KEPT)))
    torch.testing.assert_close(function(X, dim=(0, 1)), plain.get(name, getattr(torch, name, None))(X.reshape(-1)))


def test_positions_running_values_and_medians() -> None:
    assert masked.argmax(X, 1, mask=MASK).tolist() == [3, 1]
    assert masked.argmin(X, 1, mask=MASK).tolist() == [2, 2]
    assert masked.cumsum(X, 1, mask=MASK)[0].tolist() == [3, 3, 5, 10]
    assert masked.cumprod(X, 1, mask=MASK)[1].tolist() == [1, 0.5, -1, -1]
    assert masked.median(X, 1, mask=MASK).tolist() == [3, -2]


@pytest.mark.parametrize(("name", "sign"), [("softmax", 1), ("softmin", -1)])
def test_shares_leave_out_what_is_dropped(name: str, sign: int) -> None:
    result = getattr(masked, name)(X, 1, mask=MASK)
    assert (result[~MASK] == 0).all()
    torch.testing.assert_close(result[0][MASK[0]], torch.softmax(sign * KEPT[0], 0))


def test_logarithms_norms_and_dtypes() -> None:
    torch.testing.assert_close(masked.log_softmax(X, 1, mask=MASK).exp(), masked.softmax(X, 1, mask=MASK))
    torch.testing.assert_close(masked.logaddexp(X, X, other_mask=~MASK)[MASK], X[MASK])
    torch.testing.assert_close(masked.normalize(X, 2.0, 1, mask=MASK).norm(dim=1), torch.ones(2, dtype=torch.float64))
    assert masked.sum(torch.ones(3, dtype=torch.int32)).dtype is torch.int64
    assert masked.sum(torch.ones(3), dtype=torch.float64).dtype is torch.float64
    assert masked.amax(torch.tensor([1, 2]), mask=torch.tensor([False, False])).item() == torch.iinfo(torch.int64).min


def test_rows_without_elements_and_wrong_masks() -> None:
    nothing = torch.zeros(2, 4, dtype=torch.bool)
    assert masked.sum(X, 1, mask=nothing).tolist() == [0, 0]
    assert all(map(math.isnan, masked.mean(X, 1, mask=nothing).tolist()))
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(torch.tensor([1, 2]))
    with pytest.raises(IndexError, match="mask dimensionality higher"):
        masked.sum(X[0], mask=MASK)


def test_gradients_flow_through_what_is_kept() -> None:
    x = X.clone().requires_grad_()
    masked.mean(x, 1, mask=MASK).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, MASK / MASK.sum(1, keepdim=True, dtype=torch.float64))
