"""Products of vectors of float16 and bfloat16, whose sums are float32 and rounded once."""

from __future__ import annotations

import pytest

import torch

HALVES = (torch.float16, torch.bfloat16)
LENGTHS = (0, 1, 2, 7, 8, 15, 31, 33, 64, 100, 1000)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Whole ones, so that sums are exact."""
    return torch.randint(-3, 4, shape).to(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_products_are_exact_sums_rounded_once(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b = numbers(length, dtype=dtype), numbers(length, dtype=dtype)
    matrix, column = numbers(13, length, dtype=dtype), numbers(13, dtype=dtype)
    apart = numbers(2 * length, dtype=dtype)[::2]
    exact = (a.double() * b.double()).sum().to(dtype)
    assert torch.equal(a.dot(b), exact)
    assert torch.equal(torch.vdot(a, b), exact)
    assert torch.equal(a @ b, exact)
    assert torch.equal(apart.dot(b), (apart.double() * b.double()).sum().to(dtype))
    assert torch.equal(matrix.mv(b), matrix.double().mv(b.double()).to(dtype))
    assert torch.equal(matrix.mv(apart), matrix.double().mv(apart.double()).to(dtype))
    assert torch.equal(matrix.t().mv(column), matrix.double().t().mv(column.double()).to(dtype))
    assert torch.equal(column @ matrix, matrix.double().t().mv(column.double()).to(dtype))
    assert torch.equal(matrix[::2].mv(b), matrix[::2].double().mv(b.double()).to(dtype))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_what_is_no_number_and_gradients(dtype: torch.dtype) -> None:
    ones = torch.ones(3, dtype=dtype)
    assert torch.tensor([1, float("nan"), 2], dtype=dtype).dot(ones).isnan()
    assert torch.tensor([1, float("inf"), 2], dtype=dtype).dot(ones).isinf()
    a = torch.tensor([1.0, 2, 3], dtype=dtype, requires_grad=True)
    a.dot(ones * 2).backward()
    assert a.grad is not None
    assert torch.equal(a.grad, ones * 2)
    with pytest.raises(RuntimeError, match="1D tensors expected"):
        ones.dot(ones[None])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_outer_products_are_added_in_one_pass(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    matrix, column, row = (torch.randn(shape).to(dtype) for shape in ((50, 70), (50,), (70,)))
    for alpha in (1, 0.25):
        expected = matrix.double() + alpha * torch.outer(column.double(), row.double())
        found = torch.addr(matrix, column, row, alpha=alpha)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=torch.finfo(dtype).eps, atol=1e-3)
