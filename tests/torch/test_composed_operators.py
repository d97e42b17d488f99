"""Operators that PyTorch alone has: gradients of what they are the backward of, and layers of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch.nn import functional as F

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten
X = torch.randn(2, 4, 7, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
WEIGHT = torch.linspace(0.5, 2, 4, dtype=torch.float64)
MEAN, VARIANCE = torch.linspace(-1, 1, 4, dtype=torch.float64), torch.linspace(0.5, 1, 4, dtype=torch.float64)
# A layer, and its backward operator of the result's gradient and what the layer takes.
BACKWARD: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "max_pool2d_with_indices_backward": (
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True)[0],
        lambda grad, x: aten.max_pool2d_with_indices_backward(
            grad, x, [3, 3], [2, 2], [1, 1], [1, 1], False, F.max_pool2d(x, 3, 2, 1, return_indices=True)[1]
        ),
    ),
    "max_pool3d_with_indices_backward": (
        lambda x: F.max_pool3d(x, 2),
        lambda grad, x: aten.max_pool3d_with_indices_backward(
            grad, x, [2] * 3, [2] * 3, [0] * 3, [1] * 3, False, F.max_pool3d(x, 2, return_indices=True)[1]
        ),
    ),
    "_adaptive_avg_pool2d_backward": (
        lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
        aten._adaptive_avg_pool2d_backward,
    ),
    "_adaptive_avg_pool3d_backward": (
        lambda x: F.adaptive_avg_pool3d(x, (3, 3, 4)),
        aten._adaptive_avg_pool3d_backward,
    ),
    "native_layer_norm_backward": (
        lambda x, weight, bias: F.layer_norm(x.movedim(1, -1), [4], weight, bias),
        lambda grad, x, weight, bias: tuple(
            value.movedim(-1, 1) if value.dim() == 4 else value
            for value in aten.native_layer_norm_backward(
                grad,
                x.movedim(1, -1),
                [4],
                *aten.native_layer_norm(x.movedim(1, -1), [4], weight, bias, 1e-5)[1:],
                weight,
                bias,
                [True] * 3,
            )
        ),
    ),
    "native_group_norm_backward": (
        lambda x, weight, bias: F.group_norm(x, 2, weight, bias),
        lambda grad, x, weight, bias: aten.native_group_norm_backward(
            grad, x, *aten.native_group_norm(x, weight, bias, 2, 4, 42, 2, 1e-5)[1:], weight, 2, 4, 42, 2, [True] * 3
        ),
    ),
    "native_batch_norm_backward": (
        lambda x, weight, bias: F.batch_norm(x, None, None, weight, bias, training=True),
        lambda grad, x, weight, bias: aten.native_batch_norm_backward(
            grad,
            x,
            weight,
            None,
            None,
            *aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)[1:],
            True,
            1e-5,
            [True] * 3,
        ),
    ),
    "native_batch_norm_backward, as it was": (
        lambda x, weight, bias: F.batch_norm(x, MEAN.to(x.dtype), VARIANCE.to(x.dtype), weight, bias),
        lambda grad, x, weight, bias: aten.native_batch_norm_backward(
            grad, x, weight, MEAN.to(x.dtype), VARIANCE.to(x.dtype), None, None, False, 1e-5, [True] * 3
        ),
    ),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", BACKWARD)
def test_gradients(name: str, dtype: torch.dtype) -> None:
    layer, backward = BACKWARD[name]
    count = layer.__code__.co_argcount
    inputs = [value.to(dtype, copy=True).requires_grad_() for value in (X, WEIGHT, WEIGHT - 1)[:count]]
    result = layer(*inputs)
    grad = torch.randn(result.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)
    expected = torch.autograd.grad(result, inputs, grad)
    with torch.no_grad():
        found = backward(grad, *inputs)
    for one, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        assert one.dtype == other.dtype
        close = {} if dtype == torch.float64 else {"rtol": 3e-2, "atol": 5e-2}
        torch.testing.assert_close(one, other, **close)


def test_what_is_not_asked_for_is_not_computed() -> None:
    mean, scale = aten.native_layer_norm(X, [6], None, None, 1e-5)[1:]
    assert aten.native_layer_norm_backward(X, X, [6], mean, scale, None, None, [False] * 3) == (None,) * 3
    mean, scale = aten.native_group_norm(X, None, None, 2, 4, 42, 2, 1e-5)[1:]
    assert aten.native_group_norm_backward(X, X, mean, scale, None, 2, 4, 42, 2, [False] * 3) == (None,) * 3
    assert aten.native_batch_norm_backward(X, X, None, MEAN, VARIANCE, None, None, False, 0, [False] * 3) == (None,) * 3


@pytest.mark.parametrize("padding_idx", [-1, 2])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_gradient_of_an_embedding(padding_idx: int, by_frequency: bool) -> None:
    weight = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    indices = torch.tensor([[0, 2, 2], [4, 0, 0]])
    rows = F.embedding(indices, weight, padding_idx if padding_idx >= 0 else None, scale_grad_by_freq=by_frequency)
    grad = torch.randn_like(rows)
    found = aten.embedding_dense_backward(grad, indices, 5, padding_idx, by_frequency)
    torch.testing.assert_close(found, torch.autograd.grad(rows, weight, grad)[0])


def test_channels_stay_last() -> None:
    x = X.contiguous(memory_format=torch.channels_last)
    result, places = aten.max_pool2d_with_indices(x, [2, 2])
    found = aten.max_pool2d_with_indices_backward(result, x, [2, 2], [2, 2], [0, 0], [1, 1], False, places)
    assert found.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("name", "mode", "dims"),
    [
        ("upsample_nearest1d", "nearest", 1), ("upsample_nearest2d", "nearest", 2),
        ("upsample_nearest3d", "nearest", 3), ("_upsample_nearest_exact1d", "nearest-exact", 1),
        ("_upsample_nearest_exact2d", "nearest-exact", 2), ("_upsample_nearest_exact3d", "nearest-exact", 3),
        ("upsample_linear1d", "linear", 1), ("upsample_bilinear2d", "bilinear", 2),
        ("upsample_trilinear3d", "trilinear", 3), ("upsample_bicubic2d", "bicubic", 2),
        ("_upsample_bilinear2d_aa", "bilinear", 2), ("_upsample_bicubic2d_aa", "bicubic", 2),
    ],
)  # fmt: skip
def test_other_sizes(name: str, mode: str, dims: int) -> None:
    x = torch.randn(1, 2, *range(4, 4 + dims))
    operator = getattr(aten, name)
    sizes = [3, 5, 4][:dims]
    factors = [0.7, 1.6, 1.3][:dims]
    for corner in [None] if "nearest" in mode else [False, True]:
        corners = [] if corner is None else [corner]
        options: Any = {"mode": mode, "align_corners": corner, "antialias": name.endswith("_aa")}
        by_size = F.interpolate(x, sizes, **options)
        by_factor = F.interpolate(x, scale_factor=factors, **options)
        assert torch.equal(operator(x, sizes, *corners), by_size)
        assert torch.equal(operator.vec(x, sizes, *corners, None), by_size)
        assert torch.equal(operator.vec(x, None, *corners, scale_factors=factors), by_factor)
        assert torch.equal(operator(x, None, *corners, factors), by_factor)
        assert torch.equal(operator(x, list(by_factor.shape[2:]), *corners, *factors), by_factor)
        with pytest.raises(RuntimeError, match="exactly one of output_size and scale_factors"):
            operator.vec(x, sizes, *corners, factors)
    with pytest.raises(TypeError, match="unknown"):
        operator.default(x, sizes, unknown=1)


def test_other_names() -> None:
    weight = WEIGHT
    expected = F.batch_norm(X, MEAN, VARIANCE, weight, None)
    found = aten._native_batch_norm_legit_no_training(X, weight, None, MEAN, VARIANCE, 0.1, 1e-5)
    assert torch.equal(found[0], expected)
    assert [value.shape for value in found[1:]] == [(0,), (0,)]
    assert aten.sym_is_contiguous(X)
    assert not aten.sym_is_contiguous.default(X, torch.channels_last)
    assert torch.equal(aten.special_expm1(X), torch.special.expm1(X))
    assert torch.equal(aten._foreach_add.List([X], [X])[0], X + X)
