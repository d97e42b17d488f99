"""Products of matrices, and attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.onnx._operators.table import Refusal, operator


@operator("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    return torch.matmul(a, b)


@operator("Gemm")
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 0,
) -> Tensor:
    product = torch.matmul(a.T if transA else a, b.T if transB else b)
    product = product if alpha == 1 else (alpha * product).to(a.dtype)
    return product if c is None else product + (c if beta == 1 else (beta * c).to(a.dtype))


def _wide(x: Tensor, zero: Tensor | None, row: bool = False) -> Tensor:
    wide = x.to(torch.int32)
    if zero is None:
        return wide
    shift = zero.to(torch.int32)
    return wide - (shift.unsqueeze(-1) if row and shift.dim() == 1 else shift)


@operator("MatMulInteger")
def matmul_integer(a: Tensor, b: Tensor, zero_a: Tensor | None = None, zero_b: Tensor | None = None) -> Tensor:
    return torch.matmul(_wide(a, zero_a, True), _wide(b, zero_b))


@operator("QLinearMatMul")
def quantized_matmul(
    a: Tensor, scale_a: Tensor, zero_a: Tensor, b: Tensor, scale_b: Tensor, zero_b: Tensor, scale: Tensor, zero: Tensor
) -> Tensor:
    product = torch.matmul(_wide(a, zero_a, True).double(), _wide(b, zero_b).double())
    left = scale_a.unsqueeze(-1) if scale_a.dim() == 1 else scale_a
    steps = torch.round(product * (left.double() * scale_b.double() / scale.double())) + zero.double()
    limits = torch.iinfo(zero.dtype)
    return steps.clamp(limits.min, limits.max).to(torch.int32).to(zero.dtype)


@operator("Attention")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    lengths: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    outputs: int = 1,
) -> Any:
    flat = query.dim() == 3
    if flat:
        query, key, value = (
            each.reshape(*each.shape[:2], heads, -1).transpose(1, 2)
            for each, heads in ((query, q_num_heads), (key, kv_num_heads), (value, kv_num_heads))
        )
    if past_key is not None and past_value is not None:
        key, value = torch.cat([past_key, key], 2), torch.cat([past_value, value], 2)
    if qk_matmul_output_mode not in (0, 3) and outputs > 3:
        raise Refusal(f"qk_matmul_output_mode {qk_matmul_output_mode}")
    if is_causal and lengths is not None:
        raise Refusal("is_causal with lengths of keys")
    present = key, value
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    products = torch.matmul(query * math.sqrt(factor), key.transpose(-1, -2) * math.sqrt(factor))
    scores = products
    bias = torch.zeros(query.shape[-2], key.shape[-2], dtype=query.dtype)
    if is_causal:
        bias = bias.masked_fill(
            ~torch.ones(bias.shape, dtype=torch.bool).tril(0 if past_key is None else past_key.shape[2]), -math.inf
        )
    if mask is not None:
        more = key.shape[-2] - mask.shape[-1]
        if more:
            absent = torch.full(
                (*mask.shape[:-1], more), False if mask.dtype == torch.bool else -math.inf, dtype=mask.dtype
            )
            mask = torch.cat([mask, absent], -1)
        bias = bias + (
            torch.zeros(mask.shape, dtype=query.dtype).masked_fill(~mask, -math.inf)
            if mask.dtype == torch.bool
            else mask
        )
    if lengths is not None:
        late = torch.arange(key.shape[-2]) >= lengths.reshape(-1, 1, 1, 1)
        bias = bias + torch.zeros(late.shape, dtype=query.dtype).masked_fill(late, -math.inf)
    capped = softcap * torch.tanh(scores / softcap) if softcap else scores
    biased = capped + bias
    weights = torch.softmax(biased, -1)
    weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
    y = torch.matmul(weights, value)
    y = y.transpose(1, 2).flatten(2) if flat else y
    shown = weights if qk_matmul_output_mode == 3 else products
    return (y, *present, shown)[:outputs] if outputs > 1 else y


@operator("RotaryEmbedding")
def rotary(
    x: Tensor,
    cosines: Tensor,
    sines: Tensor,
    positions: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    flat = x.dim() == 3
    work = x.reshape(*x.shape[:2], num_heads, -1) if flat else x.transpose(1, 2)
    width = rotary_embedding_dim or work.shape[-1]
    turned, rest = work[..., :width], work[..., width:]
    cos, sin = (each if positions is None else each[positions] for each in (cosines, sines))
    cos, sin = (each[..., : width // 2].unsqueeze(2) for each in (cos, sin))
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    first, second = cos * a - sin * b, sin * a + cos * b
    made = torch.stack([first, second], -1).flatten(-2) if interleaved else torch.cat([first, second], -1)
    result = torch.cat([made, rest], -1)
    return result.reshape(x.shape) if flat else result.transpose(1, 2)
