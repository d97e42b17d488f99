"""Attention in blocks against the formula: lengths around the blocks, masks, layouts, and gradients of gradients."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch.nn.functional import scaled_dot_product_attention

# queries, keys, features, features of values
SIZES = ((1, 1, 1, 1), (5, 7, 3, 4), (48, 256, 16, 16), (49, 257, 32, 8), (100, 30, 40, 48), (13, 600, 64, 33))


def _heads(*shape: int, dtype: Any = torch.float64) -> torch.Tensor:
    """Laid out as they are when projected together: (batch, length, heads, features) in memory."""
    batch, heads, length, features = shape
    return torch.randn(batch, length, heads, features, dtype=dtype).transpose(1, 2).requires_grad_()


def _operands(size: tuple[int, ...], dtype: Any = torch.float64) -> list[torch.Tensor]:
    queries, keys, features, values = size
    torch.manual_seed(0)
    return [_heads(2, 3, *shape, dtype=dtype) for shape in ((queries, features), (keys, features), (keys, values))]


def _by_formula(
    query: Any, key: Any, value: Any, mask: Any = None, is_causal: bool = False, scale: Any = None
) -> torch.Tensor:
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    if is_causal:
        mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1).nan_to_num(0) @ value


def _compare(operands: list[torch.Tensor], **options: Any) -> None:
    actual = scaled_dot_product_attention(*operands, **options)
    assert "FlashAttention" in actual.grad_fn.name()
    options["mask"] = options.pop("attn_mask", None)
    expected = _by_formula(*operands, **options)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)
    slopes = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, operands, slopes)
    for found in (torch.autograd.grad(actual, operands, slopes, retain_graph=True),
                  torch.autograd.grad(actual, operands, slopes, create_graph=True)):  # fmt: skip
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [1, 3])
def test_lengths_around_blocks(size: tuple[int, ...], threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        _compare(_operands(size))
        _compare(_operands(size), is_causal=True, scale=0.3)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "shape", [(49, 257), (257,), (1, 257), (2, 1, 49, 257), (2, 3, 1, 257), (3, 49, 1), (1, 1, 1, 1)]
)
def test_masks_of_every_shape(shape: tuple[int, ...]) -> None:
    shape = (1, *shape) if len(shape) == 1 else shape
    _compare(_operands(SIZES[3]), attn_mask=torch.randn(shape, dtype=torch.float64))
    _compare(_operands(SIZES[3]), attn_mask=torch.rand(shape) > 0.3)


def test_queries_that_see_nothing() -> None:
    mask = torch.ones(49, 257, dtype=torch.bool)
    mask[3] = False
    mask[5, :256] = False  # nothing in the first block of keys
    operands = _operands(SIZES[3])
    result = scaled_dot_product_attention(*operands, attn_mask=mask)
    assert result[:, :, 3].eq(0).all()
    torch.testing.assert_close(result[:, :, 5], operands[2][:, :, 256], rtol=1e-9, atol=1e-9)
    gradients = torch.autograd.grad(result.sum(), operands)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[0][:, :, 3].eq(0).all()


def test_nan_and_infinite_scores() -> None:
    query, key, value = (torch.zeros(1, 1, 4, 8) for _ in range(3))
    key[0, 0, 1] = torch.nan
    assert scaled_dot_product_attention(query, key, value).isnan().all()


def test_groups_of_heads_and_halves() -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 6, 20, 16), torch.randn(2, 2, 30, 16), torch.randn(2, 2, 30, 16)
    repeated = _by_formula(query, key.repeat_interleave(3, 1), value.repeat_interleave(3, 1))
    torch.testing.assert_close(
        scaled_dot_product_attention(query, key, value, enable_gqa=True), repeated, rtol=1e-4, atol=1e-5
    )
    seen = torch.rand(20, 30) < 0.5
    for mask in (seen, seen[:1], seen[:1].expand(2, 1, 1, 30), seen.expand(2, 6, 20, 30)):
        leaves = [tensor.double().requires_grad_() for tensor in (query, key, value)]
        found = scaled_dot_product_attention(*leaves, attn_mask=mask, enable_gqa=True)
        expected = _by_formula(leaves[0], *(leaf.repeat_interleave(3, 1) for leaf in leaves[1:]), mask=mask)
        torch.testing.assert_close(found, expected)
        slopes = torch.randn_like(expected)
        for gradient, wanted in zip(
            torch.autograd.grad(found, leaves, slopes), torch.autograd.grad(expected, leaves, slopes), strict=True
        ):
            torch.testing.assert_close(gradient, wanted)
    halves = [tensor.bfloat16() for tensor in (query[:, :2], key, value)]
    result = scaled_dot_product_attention(*halves)
    assert result.dtype == torch.bfloat16
    torch.testing.assert_close(result.float(), _by_formula(*(half.float() for half in halves)), rtol=2**-7, atol=2**-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(4, 30, 8), (2, 2, 2, 30, 8)])
def test_sixteen_bits_are_rounded_once(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    operands = [(8 * torch.randn(shape)).to(dtype) for _ in range(3)]
    wanted = scaled_dot_product_attention(*(each.double() for each in operands), is_causal=True).to(dtype)
    found = scaled_dot_product_attention(*operands, is_causal=True)
    unit = torch.finfo(dtype).eps
    torch.testing.assert_close(found, wanted, rtol=unit, atol=unit)


def test_gradients_of_gradients() -> None:
    operands = tuple(tensor.detach().requires_grad_() for tensor in _operands((3, 4, 2, 2)))
    assert torch.autograd.gradgradcheck(lambda *args: scaled_dot_product_attention(*args, is_causal=True), operands)


def test_only_the_values_may_need_a_gradient() -> None:
    query, key = torch.ones(1, 2, 3, 4), torch.ones(1, 2, 5, 4)
    value = torch.zeros(1, 2, 5, 4, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(query, key, value).sum().backward()
    assert value.grad is not None
    torch.testing.assert_close(value.grad, torch.full((1, 2, 5, 4), 0.6))
