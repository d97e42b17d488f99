"""embedding_bag, in one pass and by all rows, beside a plain loop over bags."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._pytree import tree_map

COLUMNS = (1, 3, 4, 7, 12, 16, 17, 31, 70, 133)  # less than a vector, narrow ones, one, not a multiple of one, several
OFFSETS = [0, 4, 4, 9]


def bags_by_a_loop(
    weight: Tensor, indices: Tensor, mode: str, padding: int | None, factors: Tensor | None, offsets: list[int]
) -> Tensor:
    """Bag after bag, in the type of `weight`."""
    result = []
    for begin, end in itertools.pairwise([*offsets, len(indices)]):
        places = [k for k in range(begin, end) if int(indices[k]) != padding]
        rows = weight[indices[places]]
        if not places:
            result.append(weight.new_zeros(weight.size(1)))
        elif mode == "max":
            result.append(rows.max(0)[0])
        else:
            sums = (rows if factors is None else rows * factors[places].unsqueeze(1)).sum(0)
            result.append(sums / len(places) if mode == "mean" else sums)
    return torch.stack(result)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("integers", [torch.int32, torch.int64], ids=str)
def test_bags_and_gradients(columns: int, mode: str, dtype: torch.dtype, integers: torch.dtype) -> None:
    torch.manual_seed(0)
    exact = torch.randn(6, columns).to(dtype).double()
    indices, offsets = torch.randint(6, (14,), dtype=integers), torch.tensor(OFFSETS, dtype=integers)
    for padding, scaled in ((None, False), (2, False), (None, True), (2, True)):
        if scaled and mode != "sum":
            continue
        weight, expected_weight = exact.to(dtype, copy=True).requires_grad_(), exact.clone().requires_grad_()
        factors = torch.rand(14).to(dtype).requires_grad_() if scaled else None
        expected_factors = (
            factors.detach().to(torch.float64, copy=True).requires_grad_() if factors is not None else None
        )
        bags = functional.embedding_bag(
            indices, weight, offsets, mode=mode, padding_idx=padding, per_sample_weights=factors
        )
        expected = bags_by_a_loop(expected_weight, indices.long(), mode, padding, expected_factors, OFFSETS)
        assert bags.dtype == dtype
        torch.testing.assert_close(bags, expected.to(dtype))
        slopes = torch.randn(bags.shape).to(dtype)
        bags.backward(slopes)
        expected.backward(slopes.double())
        tolerance = {torch.float16: 2e-2, torch.bfloat16: 1e-1}.get(dtype, 1e-5)  # sums are rounded each time
        torch.testing.assert_close(weight.grad.double(), expected_weight.grad, rtol=tolerance, atol=tolerance)
        if factors is not None and expected_factors is not None:
            torch.testing.assert_close(factors.grad.double(), expected_factors.grad, rtol=tolerance, atol=5 * tolerance)


@pytest.mark.parametrize("mode", ["sum", "mean", "max", "factors"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"include_last_offset": True}], ids=str)
def test_second_derivatives(mode: str, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    weight = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    indices, offsets = torch.tensor([0, 1, 3, 3, 4, 1, 2]), torch.tensor([0, 2, 2, 5])
    factors = torch.rand(7, dtype=torch.float64, requires_grad=True)

    def bags(weight: Tensor, *factors: Tensor) -> Tensor:
        word = "sum" if factors else mode
        given = factors[0] if factors else None
        return functional.embedding_bag(indices, weight, offsets, mode=word, per_sample_weights=given, **options)

    inputs = (weight, factors) if mode == "factors" else (weight,)
    assert torch.autograd.gradcheck(bags, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(bags, inputs)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_other_gradients_of_tables(mode: str) -> None:
    torch.manual_seed(0)
    indices = torch.tensor([[1, 1, 4], [2, 1, 4]])
    slopes = torch.randn(2, 3)
    found = []
    for options in ({}, {"sparse": True}):
        weight = torch.ones(5, 3, requires_grad=True)
        functional.embedding_bag(indices, weight, mode=mode, padding_idx=4, **options).backward(slopes)
        found.append(weight.grad.to_dense())
    torch.testing.assert_close(*found)
    weight = torch.ones(5, 3, requires_grad=True)
    functional.embedding_bag(indices, weight, mode=mode, padding_idx=4, scale_grad_by_freq=True).backward(slopes)
    counts = torch.tensor([1.0, 3.0, 1.0, 1.0, 1.0])  # how often each row was looked up
    torch.testing.assert_close(weight.grad, found[0] / counts.unsqueeze(1))


def test_first_maxima_stand_and_numbers_win_over_nothing() -> None:
    weight = torch.tensor([[1.0, -1.0], [1.0, -2.0], [float("nan"), -3.0]])
    bags, owners, sizes, rows = torch.embedding_bag(weight, torch.tensor([0, 1, 2]), torch.tensor([0, 0, 2]), mode=2)
    assert bags.tolist()[:2] == [[0.0, 0.0], [1.0, -1.0]]
    assert bags[2, 0].isnan()
    assert (owners.tolist(), sizes.tolist()) == ([1, 1, 2], [0, 2, 1])
    assert rows.tolist() == [[0, 0], [0, 0], [2, 2]]


def test_tables_that_do_not_lie_dense_and_no_bags() -> None:
    weight = torch.randn(6, 10)[:, ::2]
    indices = torch.tensor([[0, 5], [3, 3]])
    torch.testing.assert_close(functional.embedding_bag(indices, weight, mode="sum"), weight[indices].sum(1))
    assert functional.embedding_bag(torch.zeros(0, 3, dtype=torch.int64), weight).shape == (0, 5)
    assert functional.embedding_bag(torch.zeros(2, 0, dtype=torch.int64), weight).tolist() == [[0.0] * 5] * 2
    offsets = torch.zeros(0, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="include_last_offset"):
        functional.embedding_bag(torch.tensor([1]), weight, offsets, include_last_offset=True)


@pytest.mark.parametrize("index", [-1, 6])
def test_indices_outside_of_the_table(index: int) -> None:
    with pytest.raises(IndexError, match="index out of range in self"):
        functional.embedding_bag(torch.tensor([[0, index]]), torch.ones(6, 2))


def test_shapes_alone_and_batches_of_tables() -> None:
    indices = torch.tensor([[0, 1], [2, 2]])
    assert functional.embedding_bag(indices.to("meta"), torch.ones(3, 4, device="meta")).shape == (2, 4)
    tables = torch.randn(5, 3, 4)
    batched = torch.vmap(lambda table: functional.embedding_bag(indices, table, mode="sum"))(tables)
    torch.testing.assert_close(batched, tables[:, indices].sum(2))


class Wrapper(Tensor):
    """A tensor without memory of its own, around another one."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> Wrapper:
        return Tensor._make_wrapper_subclass(  # type: ignore[no-any-return]
            cls, inner.size(), strides=inner.stride(), dtype=inner.dtype, requires_grad=inner.requires_grad
        )

    def __init__(self, inner: Tensor) -> None:
        self.inner = inner.detach()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = tree_map(lambda value: value.inner if isinstance(value, cls) else value, (args, kwargs or {}))
        return tree_map(lambda value: cls(value) if isinstance(value, Tensor) else value, func(*given[0], **given[1]))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("wrapped", ["indices", "offsets", "weight", "indices offsets weight"])
def test_wrappers_have_gradients(mode: str, wrapped: str) -> None:
    plain = {"indices": torch.tensor([1, 2, 3, 3]), "offsets": torch.tensor([0, 3]), "weight": torch.randn(5, 4)}
    plain["weight"].requires_grad_()
    given = {name: Wrapper(value) if name in wrapped.split() else value for name, value in plain.items()}
    gradients = []
    for operands in (plain, given):
        bags = functional.embedding_bag(operands["indices"], operands["weight"], operands["offsets"], mode=mode)
        (gradient,) = torch.autograd.grad(bags.sum(), operands["weight"])
        gradients.append(gradient.inner if isinstance(gradient, Wrapper) else gradient)
    torch.testing.assert_close(*gradients)
