"""Sums, products, running values, counts at the borders of their kernels: lengths around a vector, rows and columns."""

from __future__ import annotations

import itertools
import math

import pytest

import torch

LENGTHS = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65, 129, 257)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
HALVES = (torch.float16, torch.bfloat16)


def layouts(matrix: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The same numbers side by side, transposed in memory, and apart."""
    return matrix, matrix.t().contiguous().t(), matrix.repeat_interleave(2, 1)[:, ::2]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((1, 5, 33, 300, 4100), (1, 2, 5, 9, 17, 65))))
def test_complex_sums_are_those_of_both_parts(rows: int, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    parts = torch.randn(2, rows, columns, dtype=torch.float64)
    for given in layouts(torch.complex(*parts).to(dtype)):
        for dims in ((0,), (1,), (0, 1)):
            sums = torch.complex(*(part.sum(dims) for part in parts)).to(dtype)
            torch.testing.assert_close(given.sum(dims), sums, rtol=1e-4, atol=1e-4)
            count = math.prod(given.shape[dim] for dim in dims)
            torch.testing.assert_close(given.mean(dims), sums / count, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_complex_products(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    angles = torch.randn(3, length, dtype=torch.float64)
    expected = torch.polar(torch.ones(3, dtype=torch.float64), angles.sum(1)).to(dtype)
    for given in layouts(torch.polar(torch.ones_like(angles), angles).to(dtype)):
        torch.testing.assert_close(given.prod(1), expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(given.t().prod(0), expected, rtol=1e-4, atol=1e-4)
    assert torch.equal(torch.zeros(0, 2, dtype=dtype).prod(0), torch.ones(2, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALVES], ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_sums_of_what_is_a_number(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    rows = torch.randint(-9, 10, (3, length)).to(dtype)
    rows[1, length // 2] = math.nan
    rows[2, -1] = math.nan
    filled = rows.double().nan_to_num(0)
    for given in layouts(rows):
        assert torch.equal(given.nansum(1), filled.sum(1).to(dtype))
        assert torch.equal(given.t().nansum(0), filled.sum(1).to(dtype))
        assert given[:1].norm(p=1, dim=1).item() == filled[:1].abs().sum().to(dtype).item()
        assert given.norm(dim=1).isnan().tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.bool], ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_integers_and_truth(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(length)
    rows = torch.randint(0, 2 if length % 2 else 100, (40, length)).to(dtype)
    wide = rows.to(torch.float64)
    for given in layouts(rows):
        for dim in (0, 1):
            assert torch.equal(given.sum(dim), wide.sum(dim).to(torch.int64))
            assert torch.equal(given.amax(dim), wide.amax(dim).to(dtype))
            assert torch.equal(given.amin(dim), wide.amin(dim).to(dtype))
            truth = torch.uint8 if dtype == torch.uint8 else torch.bool
            assert torch.equal(given.any(dim), (wide != 0).sum(dim).gt(0).to(truth))
            assert torch.equal(given.all(dim), (wide == 0).sum(dim).eq(0).to(truth))
    assert rows[:0].any(0).tolist() == [0] * length
    assert rows[:0].all(0).tolist() == [1] * length


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool, *HALVES], ids=str)
@pytest.mark.parametrize(("size", "inner"), [(1, 3), (5, 1), (8, 7), (33, 513), (700, 2), (4100, 1)])
def test_running_values(size: int, inner: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    values = torch.randint(0, 3, (7, size, inner)).to(dtype)
    result = torch.int64 if not dtype.is_floating_point else dtype
    total, product = torch.zeros(7, inner, dtype=torch.float64), torch.ones(7, inner, dtype=torch.float64)
    sums, products = values.cumsum(1), (values.clamp(0, 1) if dtype != torch.bool else values).cumprod(1)
    best, places = values.cummax(1)
    for i in range(size):
        total = total + values[:, i]
        product = product * values[:, i].clamp(0, 1) if dtype != torch.bool else product * values[:, i]
        assert torch.equal(sums[:, i], total.to(result))
        assert torch.equal(products[:, i], product.to(result))
        if i < 40:
            assert torch.equal(best[:, i], values[:, : i + 1].amax(1))
            assert torch.equal(values.gather(1, places[:, i : i + 1])[:, 0], best[:, i])
    if inner == 1:
        assert torch.equal(values[:, :, 0].cummin(1)[0], values.cummin(1)[0][:, :, 0])


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (40, 600)])
def test_running_extremes_keep_the_last_of_equals_and_every_not_a_number(shape: tuple[int, int]) -> None:
    line = torch.tensor([1.0, 1.0, 0.0, math.nan, 7.0])
    columns = line[:, None].expand(5, shape[1]).contiguous()
    for given, dim in ((line.expand(shape[0], 5).contiguous(), 1), (columns, 0)):
        values, places = given.cummax(dim)
        assert places.select(1 - dim, 0).tolist() == [0, 1, 1, 3, 3]
        assert values.select(1 - dim, 0)[3:].isnan().all()
        assert given.cummin(dim)[1].select(1 - dim, -1).tolist() == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.bfloat16], ids=str)
def test_gradients_of_products(dtype: torch.dtype) -> None:
    rows = torch.tensor([[2.0, 4.0, -0.5], [2.0, 0.0, 3.0], [0.0, 0.0, 5.0]])
    others = [[-2.0, -1.0, 8.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0]]
    for chosen in ([0], [0, 1], [1, 2]):  # with zeros and without
        given = rows[chosen].to(dtype).requires_grad_()
        given.prod(1).sum().backward(torch.ones((), dtype=dtype))
        assert torch.equal(given.grad, torch.tensor([others[row] for row in chosen]).to(dtype))
    flat = rows[0].to(dtype).requires_grad_()
    one = torch.ones((), dtype=dtype)
    (slope,) = torch.autograd.grad(flat.prod(), flat, one, create_graph=True)
    (bend,) = torch.autograd.grad(slope[0], flat, one)
    torch.testing.assert_close(bend, torch.tensor([0.0, -0.5, 4.0]).to(dtype))


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.bool, torch.float32], ids=str)
@pytest.mark.parametrize("length", [1, 2, 17, 3000])
def test_groups_of_equals(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(length)
    values = (torch.randint(0, 200, (length,)) - 100).to(dtype)
    found, inverse, counts = torch.unique(values, return_inverse=True, return_counts=True)
    assert found.tolist() == sorted(set(values.tolist()))
    assert torch.equal(found[inverse], values)
    assert torch.equal(counts, (values[:, None] == found).sum(0))
    runs = [(value, len(list(group))) for value, group in itertools.groupby(values.tolist())]
    found, inverse, counts = torch.unique_consecutive(values, return_inverse=True, return_counts=True)
    assert found.tolist() == [value for value, _ in runs]
    assert counts.tolist() == [number for _, number in runs]
    assert torch.equal(found[inverse], values)
    assert torch.unique_consecutive(values.new_zeros(length)).untyped_storage().nbytes() <= 2 * values.element_size()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_counts_of_numbers(dtype: torch.dtype) -> None:
    given = torch.tensor([3, 0, 3, 3, 100, 0]).to(dtype)
    expected = [given.tolist().count(number) for number in range(101)]
    assert given.bincount().tolist() == expected
    assert given.repeat_interleave(2)[::2].bincount(minlength=103).tolist() == [*expected, 0, 0]
    assert given.bincount(torch.arange(6.0))[[0, 3, 100]].tolist() == [6, 5, 4]
    if dtype != torch.uint8:
        with pytest.raises(RuntimeError, match="non-negative"):
            (given - 1).bincount()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (2, 23), (5, 24), (40, 65), (3, 1500), (600, 2), (2, 70000)])
def test_softmax_of_halves_is_that_of_floats_rounded_once(rows: int, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    given, grad = torch.randn(2, rows, columns).to(dtype)
    for function, dim in itertools.product((torch.softmax, torch.log_softmax), (0, 1)):
        narrow, wide = given.clone().requires_grad_(), given.float().requires_grad_()
        result = function(narrow, dim)
        expected = function(wide, dim)
        assert torch.equal(result, expected.to(dtype))
        result.backward(grad)
        rounded = torch._softmax_backward_data if function is torch.softmax else torch._log_softmax_backward_data
        assert torch.equal(narrow.grad, rounded(grad.float(), result.detach().float(), dim, torch.float32).to(dtype))


def test_the_middle_of_numbers() -> None:
    torch.manual_seed(0)
    rows = torch.randn(4, 3001).masked_fill(torch.rand(4, 3001) < 0.3, math.nan)
    rows[3] = math.nan
    values, places = rows.nanmedian(1)
    for row, value, place in zip(rows[:3], values.tolist(), places.tolist(), strict=False):
        numbers = sorted(row[~row.isnan()].tolist())
        assert value == numbers[(len(numbers) - 1) // 2] == row[place].item()
    assert math.isnan(values[3].item())
    assert places[3].item() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("order", [2, 1, 3, 0.5, -1, math.inf, -math.inf, 0])
def test_norms_of_single_numbers(order: float, dtype: torch.dtype) -> None:
    """They are sizes: no square leaves the range on the way."""
    given = torch.tensor([[[-3.0], [1e30]], [[-2e-30], [0.0]]]).to(dtype)
    sizes = given.abs() if order != 0 else (given != 0).to(given.abs().dtype)
    assert torch.equal(torch.linalg.vector_norm(given, order, dim=2), sizes[..., 0])
    assert torch.equal(given.norm(p=order, dim=-1, keepdim=True), sizes)
    assert torch.equal(given[:1].norm(p=order, dim=(0, 2)), sizes[0, :, 0])
    assert torch.equal(torch.linalg.vector_norm(given[0, 0, 0], order), sizes[0, 0, 0])
    assert torch.equal(torch.linalg.vector_norm(given[:0], order, dim=2), sizes[:0, :, 0])
    if order > 0:
        x = torch.tensor([[-3.0], [2.0], [0.0]], dtype=dtype, requires_grad=True)
        x.norm(p=order, dim=1).sum().backward()
        assert x.grad is not None
        torch.testing.assert_close(x.grad[:2], torch.tensor([[-1], [1]], dtype=dtype))
