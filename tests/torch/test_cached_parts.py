"""What is computed in parts that the cache holds: variances and logit, whatever the parts are; and long products."""

from __future__ import annotations

import itertools

import pytest

import torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("dim", [None, 0, 1, 2, (0, 1), (1, 2), (0, 1, 2)], ids=str)
def test_variances(dim: int | tuple[int, ...] | None, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(300, 40, 31, dtype=torch.float64) + 5
    dims = (0, 1, 2) if dim is None else dim
    for keepdim, correction in itertools.product((False, True), (0, 1)):
        square = (x - x.mean(dims, keepdim=True)).square()
        count = x.numel() // square.sum(dims).numel() - correction
        expected = square.sum(dims, keepdim=keepdim) / count
        found = torch.var(x.to(dtype), dim, correction=correction, keepdim=keepdim)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=0)
        root = torch.std(x.to(dtype), dim, correction=correction, keepdim=keepdim)
        torch.testing.assert_close(root.double(), expected.sqrt(), rtol=1e-5, atol=0)


def test_shapes_and_threads_of_variances() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 400_000)
    assert torch.var(x, 1).shape == (1,)
    assert torch.var(x[..., None], 1, keepdim=True).shape == (1, 1, 1)
    assert torch.var(x.view(-1, 1), 1, correction=0).eq(0).all()
    assert torch.var(torch.where(x > 4, torch.nan, x)).isnan()
    threads = torch.get_num_threads()
    found = []
    for number in (1, 2):
        torch.set_num_threads(number)
        found.append((torch.var(x).item(), x.sigmoid().logit().sum().item(), (1 + x / 1e4).prod().item()))
    torch.set_num_threads(threads)
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_logit_of_many_numbers_is_that_of_few(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.rand(300, 301).to(dtype)
    for eps in (None, 0.1):
        rows = torch.stack([row.logit(eps) for row in x])
        assert torch.equal(x.logit(eps), rows)
        assert torch.equal(x.t().logit(eps), rows.t())
        assert torch.equal(x.clone().logit_(eps), rows)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_products_of_millions(dtype: torch.dtype) -> None:
    x = torch.ones(2_500_000, dtype=dtype)
    x[::500_000] = 3
    assert x.prod() == 3**5
    x[7] = 0
    assert x.prod() == 0
    x[2_400_000] = torch.nan
    assert x.prod().isnan()
