"""Attention on CUDA devices: values and gradients against float64 on the CPU, whatever is masked."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch.nn import functional

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def _operands(queries: int, keys: int, features: int, values: int, heads: int = 3, groups: int = 3) -> list[Any]:
    generator = torch.Generator().manual_seed(1)
    shapes = ((2, heads, queries, features), (2, groups, keys, features), (2, groups, keys, values))
    return [torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes]


def _compare(operands: list[Any], dtype: torch.dtype, mask: Any = None, **options: Any) -> None:
    rounded = [operand.to(dtype) for operand in operands]
    results = []
    for device, kind in (("cpu", torch.float64), ("cuda", dtype)):
        leaves = [operand.to(device, kind).requires_grad_() for operand in rounded]
        own = mask if mask is None or mask.dtype is torch.bool else mask.to(kind)
        out = functional.scaled_dot_product_attention(
            *leaves, attn_mask=None if own is None else own.to(device), **options
        )
        weights = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).reshape(out.shape).to(dtype)
        grads = torch.autograd.grad(out, leaves, weights.to(device, kind))
        assert out.dtype is kind
        assert [grad.dtype for grad in grads] == [kind] * 3
        results.append([tensor.detach().cpu().double() for tensor in (out, *grads)])
    for expected, result in zip(*results, strict=True):
        tolerance = TOLERANCES[dtype]
        largest = max(expected.abs().max().item(), 0.1)  # of one key nothing but rounding is left
        torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", [(16, 16, 8, 8), (5, 40, 4, 6), (40, 7, 3, 3), (1, 1, 1, 1)])
def test_values_and_gradients(dtype: torch.dtype, is_causal: bool, sizes: tuple[int, int, int, int]) -> None:
    _compare(_operands(*sizes), dtype, is_causal=is_causal)


@pytest.mark.parametrize("shape", [(1, 1, 6, 9), (2, 1, 1, 9), (2, 3, 6, 9), (9,), (6, 1)])
def test_masks(shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(2)
    mask = torch.randn(shape, dtype=torch.float64, generator=generator)
    for own in (mask, mask > -1):
        own = own[None] if own.dim() == 1 else own
        _compare(_operands(6, 9, 4, 4), torch.float32, own, scale=0.7)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("sizes", [(24, 24, 8, 8), (20, 27, 4, 6)])
def test_parts_of_several_images(dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    """As many heads at once as the cache holds: by the emulated device's, two of 16 bits, of which there are three."""
    operands = _operands(*sizes)
    mask = torch.randn(2, 3, *sizes[:2], dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    for own in (mask, mask[:, :1, :1], mask[:1] > -1):
        _compare(operands, dtype, own)
    _compare(operands, dtype, is_causal=True, scale=0.7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    "sizes", [(130, 70, 40, 24), (65, 131, 8, 64), (1, 64, 64, 64), (64, 33, 72, 128), (129, 129, 128, 8)]
)
def test_tiles_of_tensor_cores(dtype: torch.dtype, is_causal: bool, sizes: tuple[int, int, int, int]) -> None:
    """Of 16 bits and features in eights: more than a tile has, less, and none to spare."""
    _compare(_operands(*sizes, heads=1, groups=1), dtype, is_causal=is_causal)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_tiles_under_masks(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(2)
    mask = torch.randn(2, 1, 66, 70, dtype=torch.float64, generator=generator)
    hidden = torch.zeros(66, 70, dtype=torch.float64)
    hidden[3] = hidden[:, 64:] = hidden[60:] = -torch.inf
    for own in (mask, mask > -1, mask[0] + hidden):
        _compare(_operands(66, 70, 16, 8, 2, 2), dtype, own.to(dtype).double() if own.is_floating_point() else own)
    _compare(_operands(66, 70, 16, 8, 2, 2), dtype, scale=-0.7)
    _compare(_operands(66, 70, 16, 8, 2, 2), dtype, torch.full((66, 70), -200.0, dtype=torch.float64))


def test_tiles_of_any_layout() -> None:
    """Heads that were projected together, in rows that begin anywhere."""
    memory = torch.randn(2 * 70 * 3 * 24 + 8, device="cuda").bfloat16()
    for first in (0, 1, 8):
        heads = memory[first : first + 2 * 70 * 3 * 24].view(2, 70, 3, 24).transpose(1, 2)
        grad = torch.randn(2, 3, 16, 70, device="cuda").bfloat16().transpose(2, 3)
        results = []
        for own in (heads, heads.clone(memory_format=torch.contiguous_format)):
            leaves = [own[..., :16].detach().requires_grad_(), own.detach().requires_grad_()]
            out = functional.scaled_dot_product_attention(leaves[0], leaves[0], leaves[1][..., 8:], is_causal=True)
            results.append([out.detach(), *torch.autograd.grad(out, leaves, grad)])
        for one, other in zip(*results, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("groups", [1, 2])
def test_heads_that_share_keys(dtype: torch.dtype, groups: int) -> None:
    for is_causal in (False, True):
        _compare(_operands(20, 24, 8, 4, 6, groups), dtype, is_causal=is_causal, enable_gqa=True)


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_dropout(dtype: torch.dtype) -> None:
    """Values that are a unit matrix show the weights."""
    query, key, _ = (operand.to("cuda", dtype) for operand in _operands(20, 24, 8, 24))
    value = torch.eye(24, device="cuda", dtype=dtype).expand(2, 3, 24, 24).clone().requires_grad_()
    plain = functional.scaled_dot_product_attention(query, key, value, is_causal=True).detach()
    dropped = functional.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=0.5)
    kept = dropped != 0
    tolerance = TOLERANCES[dtype]
    torch.testing.assert_close(dropped.detach(), plain * 2 * kept, rtol=tolerance, atol=tolerance)
    looked_at = torch.ones(20, 24, dtype=torch.bool, device="cuda").tril().expand(2, 3, 20, 24)
    assert 0.4 < kept[looked_at].double().mean().item() < 0.6
    (grad,) = torch.autograd.grad(dropped.sum(), value)
    expected = dropped.detach().sum(-2, keepdim=True).transpose(-2, -1).expand(2, 3, 24, 24)
    torch.testing.assert_close(grad, expected, rtol=tolerance, atol=4 * tolerance)


def test_queries_that_may_look_at_nothing() -> None:
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[1] = False
    operands = [operand.float().cuda().requires_grad_() for operand in _operands(4, 4, 4, 4)]
    out = functional.scaled_dot_product_attention(*operands, attn_mask=mask.cuda())
    assert out[:, :, 1].eq(0).all()
    grads = torch.autograd.grad(out.sum(), operands)
    assert all(grad.isfinite().all() for grad in grads)
    assert grads[0][:, :, 1].eq(0).all()


def test_layouts_and_groups_of_heads() -> None:
    heads = torch.randn(2, 6, 3, 4, device="cuda").transpose(1, 2)  # as they are projected together
    out = functional.scaled_dot_product_attention(heads, heads, heads)
    assert out.transpose(1, 2).is_contiguous()
    torch.testing.assert_close(out, functional.scaled_dot_product_attention(*(heads.contiguous(),) * 3))
    keys = torch.randn(2, 1, 5, 4, device="cuda")
    grouped = functional.scaled_dot_product_attention(heads, keys, keys, enable_gqa=True)
    torch.testing.assert_close(grouped, functional.scaled_dot_product_attention(heads, *(keys.expand(2, 3, 5, 4),) * 2))


def test_nothing_of_scores_is_kept() -> None:
    x = torch.randn(1, 2, 64, 4, device="cuda", requires_grad=True)
    sizes: list[int] = []

    def pack(tensor: Any) -> Any:
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    assert max(sizes) == x.numel()
