"""Attention, and what stands in its place."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.onnx._operators.table import Refusal, operator


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
    left_window_size: int = -1,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
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
    if qk_matmul_output_mode not in (0, 1, 2, 3):
        raise Refusal(f"qk_matmul_output_mode {qk_matmul_output_mode}")
    present = key, value
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    root = math.sqrt(factor)
    products = torch.matmul(query * root, key.transpose(-1, -2) * root)
    capped = softcap * torch.tanh(products / softcap) if softcap else products
    before = past_key.shape[2] if past_key is not None else 0 if lengths is None else lengths - query.shape[2]
    biased = capped + _forbidden(
        products, mask, lengths, before, left_window_size, 0 if is_causal else right_window_size
    )
    weights = torch.softmax(biased, -1)
    weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
    y = torch.matmul(weights, value)
    y = y.transpose(1, 2).flatten(2) if flat else y
    return (y, *present, (products, capped, biased, weights)[qk_matmul_output_mode])[:outputs] if outputs > 1 else y


def _forbidden(
    products: Tensor, mask: Tensor | None, lengths: Tensor | None, before: Any, left: int, right: int
) -> Tensor:
    """What is added to products: the mask, and -inf where a query does not look; `before`: keys before the queries."""
    keys = torch.arange(products.shape[-1])
    queries = torch.arange(products.shape[-2]).reshape(-1, 1) + torch.as_tensor(before).reshape(-1, 1, 1, 1)
    hidden = torch.zeros(1, 1, 1, 1, dtype=torch.bool) if lengths is None else keys >= lengths.reshape(-1, 1, 1, 1)
    hidden = hidden | (keys < queries - left) if left >= 0 else hidden
    hidden = hidden | (keys > queries + right) if right >= 0 else hidden
    bias = torch.zeros(hidden.shape, dtype=products.dtype)
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape, dtype=products.dtype).masked_fill(~mask, -math.inf)
        absent = products.shape[-1] - mask.shape[-1]
        bias = bias + torch.nn.functional.pad(mask, (0, absent), value=-math.inf)
    return bias.masked_fill(hidden, -math.inf)


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


@operator("LinearAttention")
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> tuple[Tensor, Tensor]:
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        raise Refusal(f"update_rule {update_rule!r}")
    dtype = query.dtype
    time = query.shape[1]

    def heads(x: Tensor, count: int) -> Tensor:  # (time, batch, heads, ...)
        return x.float().reshape(*x.shape[:2], count, -1).transpose(0, 1)

    q, k, v = heads(query, q_num_heads), heads(key, kv_num_heads), heads(value, kv_num_heads)
    gates = heads(decay, kv_num_heads).exp() if decay is not None and "gated" in update_rule else None
    rates = heads(beta, beta.shape[-1]) if beta is not None and "delta" in update_rule else None
    state = torch.zeros(*k.shape[1:], v.shape[-1]) if past is None else past.float()
    factor = scale or 1 / math.sqrt(q.shape[-1])
    rows = []
    for t in range(time):
        state = state if gates is None else gates[t].unsqueeze(-1) * state
        new = v[t] if rates is None else rates[t] * (v[t] - (state * k[t].unsqueeze(-1)).sum(-2))
        state = state + k[t].unsqueeze(-1) * new.unsqueeze(-2)
        seen = state.repeat_interleave(q_num_heads // kv_num_heads, 1)
        rows.append(factor * (seen * q[t].unsqueeze(-1)).sum(-2))
    y = torch.stack(rows, 1).flatten(2) if rows else torch.zeros(query.shape[0], 0, q_num_heads * v.shape[-1])
    return y.to(dtype), state.to(dtype if past is None else past.dtype)


@operator("CausalConvWithState")
def causal_convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, past: Tensor | None = None, *, activation: str = "none"
) -> tuple[Tensor, Tensor]:
    if activation not in ("none", "silu", "swish"):
        raise Refusal(f"activation {activation!r}")
    kept = weight.shape[-1] - 1
    whole = torch.cat([x.new_zeros(*x.shape[:2], kept) if past is None else past, x], 2)
    y = torch.nn.functional.conv1d(whole, weight, bias, groups=x.shape[1])
    return y if activation == "none" else torch.nn.functional.silu(y), whole[..., whole.shape[-1] - kept :]
