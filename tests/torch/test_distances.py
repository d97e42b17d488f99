"""cdist by differences and by a product of matrices, and their gradients; reductions of what was expanded."""

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


ORDERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")]
DIFFERENCES = "donot_use_mm_for_euclid_dist"


def norms(differences: torch.Tensor, p: float) -> torch.Tensor:
    if p == 0:  # NaN is no count
        return differences.abs().ceil().clamp_max(1).sum(-1)
    return torch.linalg.vector_norm(differences, p, -1)


def norms_of_differences(x1: torch.Tensor, x2: torch.Tensor, p: float) -> torch.Tensor:
    return norms(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def norms_within(x: torch.Tensor, p: float) -> torch.Tensor:
    first, second = torch.triu_indices(len(x), len(x), 1)
    return norms(x[first] - x[second], p)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("columns", [1, 3, 16, 32, 37, 200])
def test_one_pass_gives_what_steps_give(dtype: torch.dtype, p: float, columns: int) -> None:
    torch.manual_seed(0)
    rtol = 1e-5 if p in (0.5, 1.5, 3.0) and dtype is torch.float32 else 1e-6
    a = torch.randint(-3, 4, (2, 1, 7, columns)).to(dtype) / 3
    b = torch.randint(-3, 4, (3, 19, columns)).to(dtype).transpose(0, 1).contiguous().transpose(0, 1) / 3
    assert torch.allclose(torch.cdist(a, b, p, DIFFERENCES), norms_of_differences(a, b, p), rtol=rtol)
    points = b[0]
    assert torch.allclose(torch.pdist(points, p), norms_within(points, p), rtol=rtol)
    for odd in (float("nan"), float("inf")):
        a[0, 0, 2, columns // 2] = odd
        steps = norms_of_differences(a, b, p)
        assert torch.allclose(torch.cdist(a, b, p, DIFFERENCES), steps, rtol=rtol, equal_nan=True)
        assert torch.cdist(a, b, p, DIFFERENCES).isnan().any() == math.isnan(odd)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", ORDERS[1:])
@pytest.mark.parametrize("columns", [1, 3, 16, 70])
def test_gradients_in_one_pass(dtype: torch.dtype, p: float, columns: int) -> None:
    torch.manual_seed(1)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype is torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    a = torch.randn(2, 1, 9, columns, dtype=dtype, requires_grad=True)
    b = torch.randn(3, 5, columns, dtype=dtype, requires_grad=True)
    weights = torch.randn(2, 3, 5, 9, dtype=dtype).transpose(-2, -1)
    results = [torch.cdist(a, b, p, DIFFERENCES), norms_of_differences(a, b, p)]
    of_both = [torch.autograd.grad((result * weights).sum(), (a, b)) for result in results]
    torch.testing.assert_close(*of_both, **tolerance)
    of_one = [
        torch.autograd.grad((f(a.detach(), b) * weights).sum(), b)
        for f in (lambda x, y: torch.cdist(x, y, p, DIFFERENCES), lambda x, y: norms_of_differences(x, y, p))
    ]
    torch.testing.assert_close(*of_one, **tolerance)
    points = torch.randn(19, columns, dtype=dtype, requires_grad=True)
    pairs = torch.randn(19 * 18 // 2, dtype=dtype)
    within = [torch.autograd.grad((f(points, p) * pairs).sum(), points) for f in (torch.pdist, norms_within)]
    torch.testing.assert_close(*within, **tolerance)


@pytest.mark.parametrize("p", ORDERS[2:])
def test_distances_are_differentiated_twice(p: float) -> None:
    torch.manual_seed(2)
    a = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    b = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, y: torch.cdist(x, y, p), (a, b))
    assert torch.autograd.gradgradcheck(lambda x, y: torch.cdist(x, y, p), (a, b))
    assert torch.autograd.gradcheck(lambda x: torch.pdist(x, p), (b,))
    assert torch.autograd.gradgradcheck(lambda x: torch.pdist(x, p), (b,))


def test_gradients_of_counts_and_of_equal_points() -> None:
    """As PyTorch: a count has none, points on each other pull nowhere, each of several greatest differences counts."""
    x = torch.tensor([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    for p in ORDERS:
        expected = 0.0 if p == 0 else 2 ** (1 / p) / 2 if p != float("inf") else 1.0
        for distances in (torch.pdist(x, p), torch.cdist(x[:2], x[2:], p).flatten()):
            (slopes,) = torch.autograd.grad(distances[-1], x)
            torch.testing.assert_close(slopes, torch.tensor([[0.0], [expected], [-expected]]).expand(3, 2))
        assert torch.autograd.grad(torch.pdist(x, p)[0], x)[0].eq(0).all()


def test_distances_of_nothing() -> None:
    for p in ORDERS:
        assert torch.cdist(torch.ones(0, 3), torch.ones(2, 3), p).shape == (0, 2)
        assert torch.cdist(torch.ones(2, 3), torch.ones(0, 3), p).shape == (2, 0)
        assert torch.cdist(torch.ones(0, 2, 3), torch.ones(0, 4, 3), p).shape == (0, 2, 4)
        assert torch.equal(torch.cdist(torch.ones(2, 0), torch.ones(4, 0), p), torch.zeros(2, 4))
        assert torch.pdist(torch.ones(1, 3), p).shape == torch.pdist(torch.ones(0, 3), p).shape == (0,)
        assert torch.equal(torch.pdist(torch.ones(3, 0), p), torch.zeros(3))
        for x1, x2 in ((torch.ones(0, 3), torch.ones(2, 3)), (torch.ones(2, 3), torch.ones(0, 3))):
            pair = (x1.requires_grad_(), x2.requires_grad_())
            for x, slope in zip(pair, torch.autograd.grad(torch.cdist(x1, x2, p).sum(), pair), strict=True):
                assert torch.equal(slope, torch.zeros_like(x))
        for shape in ((0, 3), (1, 3), (3, 0)):
            x = torch.ones(shape, requires_grad=True)
            assert torch.equal(torch.autograd.grad(torch.pdist(x, p).sum(), x)[0], torch.zeros(shape))
