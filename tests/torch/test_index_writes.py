"""Writing by positions, in place: what is not written stays untouched, and is not copied."""

from __future__ import annotations

import pytest

import torch


@pytest.mark.parametrize("dense", [True, False])
def test_writes_go_where_they_belong(dense: bool) -> None:
    start = torch.arange(12.0).reshape(3, 4)
    start = start if dense else start.t().contiguous().t()
    at = torch.tensor([2, 0])
    rows = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    written = start.clone()
    assert written.index_copy_(0, at, rows) is written
    assert written.tolist() == [[5, 6, 7, 8], [4, 5, 6, 7], [1, 2, 3, 4]]
    assert written.index_fill_(1, at, -1.0) is written
    assert written.tolist() == [[-1, 6, -1, 8], [-1, 5, -1, 7], [-1, 2, -1, 4]]
    assert written.put_(torch.tensor([1, -1]), torch.tensor([0.5, 0.25])) is written
    assert written.tolist() == [[-1, 0.5, -1, 8], [-1, 5, -1, 7], [-1, 2, -1, 0.25]]
    assert written.stride() == start.stride()


def test_a_number_is_written_too() -> None:
    number = torch.tensor(3.0)
    number.index_copy_(0, torch.tensor([0]), torch.tensor([5.0]))
    assert number.item() == 5
    number.index_fill_(0, torch.tensor(0), 2.0)
    assert number.item() == 2


def test_gradients_pass_by_what_was_written() -> None:
    source = torch.ones(2, 2, requires_grad=True)
    start = torch.ones(3, 2, requires_grad=True)
    (start * 2).index_copy_(0, torch.tensor([0, 2]), source).pow(2).sum().backward()
    assert source.grad is not None
    assert start.grad is not None
    assert source.grad.tolist() == [[2, 2], [2, 2]]
    assert start.grad.tolist() == [[0, 0], [8, 8], [0, 0]]
    filled = (source * 3).index_fill_(1, torch.tensor([1]), 7.0)
    (gradient,) = torch.autograd.grad(filled.sum(), source)
    assert gradient.tolist() == [[3, 0], [3, 0]]


def test_a_leaf_is_not_written() -> None:
    leaf = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        leaf.index_copy_(0, torch.tensor([0]), torch.ones(1))
    with pytest.raises(IndexError, match="out of range"):
        torch.zeros(3).index_copy_(0, torch.tensor([3]), torch.ones(1))
