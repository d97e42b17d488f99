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


def test_results_beside_what_lies_crosswise_are_contiguous_as_in_pytorch() -> None:
    start = torch.arange(12.0).reshape(3, 4).t()
    places, row = torch.zeros(4, 3, dtype=torch.int64), torch.tensor([0])
    for result in (
        start.scatter(1, places, start),
        start.scatter(1, places, 1.0),
        start.scatter_add(1, places, start),
        start.index_add(0, row, start[:1]),
        start.index_copy(0, row, start[:1]),
    ):
        assert result.stride() == (3, 1)
    assert start.index_fill(0, row, 1.0).stride() == (1, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bool, torch.complex128])
@pytest.mark.parametrize("dim", [0, 1])
def test_what_lies_crosswise_is_read_and_written_as_what_does_not(dtype: torch.dtype, dim: int) -> None:
    torch.manual_seed(0)
    dense = torch.randint(0, 9, (330, 530)).to(dtype)  # more than one block, and no whole number of them
    places = torch.randint(0, dense.size(dim), dense.shape)
    one_each = torch.argsort(torch.rand(dense.shape), dim)
    at = torch.randint(0, dense.size(dim), (77,))
    for given in (dense.t().contiguous().t(), dense.repeat_interleave(2, 1)[:, ::2]):
        assert torch.equal(given.index_select(dim, at), dense.index_select(dim, at))
        assert torch.equal(given.gather(dim, places), dense.gather(dim, places))
        assert torch.equal(given.scatter(dim, one_each, given), dense.scatter(dim, one_each, dense))
        assert torch.equal(given.scatter_add(dim, places, given), dense.scatter_add(dim, places, dense))
        assert torch.equal(
            given.index_add(dim, at, given.narrow(dim, 0, 77)), dense.index_add(dim, at, dense.narrow(dim, 0, 77))
        )
        assert torch.equal(given.tril(3), dense.tril(3))
        assert torch.equal(given.triu(-3), dense.triu(-3))


@pytest.mark.parametrize("place", [-1, 40])
def test_every_thread_says_which_index_is_outside(place: int) -> None:
    places = torch.zeros(40, 5000, dtype=torch.int64)
    places[39, 4999] = place
    for call in (
        torch.zeros(40, 5000).gather,
        lambda *given: torch.zeros(40, 5000).scatter_add(*given, torch.ones(40, 5000)),
    ):
        with pytest.raises(RuntimeError, match=f"index {place} is out of bounds for dimension 0 with size 40"):
            call(0, places)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64])
@pytest.mark.parametrize("spread", [1, 7, 400])
@pytest.mark.parametrize("columns", [1, 15, 16, 300])
def test_threads_add_rows_in_the_same_order(dtype: torch.dtype, spread: int, columns: int) -> None:
    """Whether threads share out rows, or the elements of rows, where positions crowd together."""
    torch.manual_seed(0)
    table, rows = ((torch.randn(count, columns) * 8).to(dtype) for count in (400, 5000))
    places = torch.randint(0, spread, (5000,))
    threads = torch.get_num_threads()
    found = []
    try:
        for number in (1, 2, 3):
            torch.set_num_threads(number)
            found.append((table.index_add(0, places, rows), table.index_put((places,), rows, accumulate=True)))
    finally:
        torch.set_num_threads(threads)
    expected = table.to(torch.float64).index_add(0, places, rows.to(torch.float64))
    if dtype in (torch.float64, torch.int64):
        assert torch.allclose(found[0][0].to(torch.float64), expected, rtol=1e-9)
    for added, put in found:
        assert torch.equal(added, found[0][0])
        assert torch.equal(put, found[0][1])
