"""cdist by differences and by a product of matrices; reductions of what was expanded."""

from __future__ import annotations

import math

import pytest

import torch

SHAPES = [((40, 3), (5, 3)), ((2, 1, 26, 4), (3, 30, 4)), ((0, 4), (30, 4)), ((30, 0), (30, 0))]


@pytest.mark.parametrize("shapes", SHAPES)
def test_the_modes_agree(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x1, x2 = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    exact = torch.cdist(x1, x2, compute_mode="donot_use_mm_for_euclid_dist")
    weights = torch.randn_like(exact)
    expected = torch.autograd.grad((exact * weights).sum(), (x1, x2), retain_graph=True)
    for mode in ("use_mm_for_euclid_dist", "use_mm_for_euclid_dist_if_necessary"):
        distances = torch.cdist(x1, x2, compute_mode=mode)
        torch.testing.assert_close(distances, exact)
        torch.testing.assert_close(torch.autograd.grad((distances * weights).sum(), (x1, x2)), expected)


def test_which_way_is_taken() -> None:
    few, many = torch.zeros(25, 2, requires_grad=True), torch.zeros(26, 2, requires_grad=True)
    ways = [
        (torch.cdist(few, many), True),
        (torch.cdist(few, few, compute_mode="use_mm_for_euclid_dist"), True),
        (torch.cdist(few, few), False),
        (torch.cdist(many, many, compute_mode="donot_use_mm_for_euclid_dist"), False),
        (torch.cdist(many, many, p=1.0), False),
    ]
    for result, is_product in ways:
        assert result.grad_fn is not None
        assert (result.grad_fn.name() == "EuclideanDistBackward0") is is_product


def test_points_on_each_other_pull_nowhere() -> None:
    x = torch.ones(30, 2, requires_grad=True)
    torch.cdist(x, x).sum().backward()
    assert x.grad is not None
    assert x.grad.eq(0).all()


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "any", "all", "std", "logsumexp", "norm"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_of_what_was_expanded(name: str, keepdim: bool) -> None:
    function = getattr(torch, name)
    expanded = torch.randn(1, 5, 1, 3).expand(4, 5, 6, 3)
    for dim in (0, 1, 3, (0, 2), (1, 3), (0, 1, 2, 3)):
        if isinstance(dim, tuple) and name in ("any", "all", "prod"):
            continue
        expected = function(expanded.contiguous(), dim=dim, keepdim=keepdim)
        result = function(expanded, dim=dim, keepdim=keepdim)
        torch.testing.assert_close(result, expected)
        result[...] = 1  # its elements are its own
        assert result.sum() == result.numel()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, float("inf")])
@pytest.mark.parametrize("columns", [1, 3, 16, 37, 200])
def test_one_pass_gives_what_steps_give(dtype: torch.dtype, p: float, columns: int) -> None:
    """Where a gradient is asked for, the differences are made first."""
    torch.manual_seed(0)
    a = torch.randint(-3, 4, (2, 1, 7, columns)).to(dtype) / 3
    b = torch.randint(-3, 4, (3, 5, columns)).to(dtype).transpose(0, 1).contiguous().transpose(0, 1) / 3
    mode = "donot_use_mm_for_euclid_dist"
    steps = torch.cdist(a.clone().requires_grad_(), b, p, mode).detach()
    assert torch.allclose(torch.cdist(a, b, p, mode), steps, rtol=1e-6)
    row = a[0, 0]
    assert torch.allclose(torch.pdist(row, p), torch.pdist(row.clone().requires_grad_(), p).detach(), rtol=1e-6)
    for odd in (float("nan"), float("inf")):
        a[0, 0, 2, columns // 2] = odd
        steps = torch.cdist(a.clone().requires_grad_(), b, p, mode).detach()
        assert torch.allclose(torch.cdist(a, b, p, mode), steps, rtol=1e-6, equal_nan=True)
        assert torch.cdist(a, b, p, mode).isnan().any() == math.isnan(odd)


def test_distances_of_nothing() -> None:
    for p in (0.0, 1.0, 2.0, float("inf")):
        assert torch.cdist(torch.ones(0, 3), torch.ones(2, 3), p).shape == (0, 2)
        assert torch.cdist(torch.ones(2, 3), torch.ones(0, 3), p).shape == (2, 0)
        assert torch.cdist(torch.ones(0, 2, 3), torch.ones(0, 4, 3), p).shape == (0, 2, 4)
        assert torch.equal(torch.cdist(torch.ones(2, 0), torch.ones(4, 0), p), torch.zeros(2, 4))
        assert torch.pdist(torch.ones(1, 3), p).shape == torch.pdist(torch.ones(0, 3), p).shape == (0,)
        assert torch.equal(torch.pdist(torch.ones(3, 0), p), torch.zeros(3))
