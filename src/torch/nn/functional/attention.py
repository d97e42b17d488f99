"""Attention of several heads, with its projections."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import torch
from torch import _C

if TYPE_CHECKING:
    from torch import Tensor

_linear = _C._nn.linear


def none_or_dtype(input: Tensor | None) -> torch.dtype | None:
    """The dtype of a tensor that may not be there."""
    if input is not None and not isinstance(input, torch.Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: torch.dtype | None,
    other_name: str,
    target_type: torch.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask as numbers to add: -inf where a bool one is True. AssertionError for a mask of integers."""
    if mask is None:
        return None
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _check_shapes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether there is a batch. AssertionError for dimensions that do not go together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = "batched (3-D)" if dims == 3 else "unbatched (2-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dims}-D"
            f" but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D"
            f" but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D"
            f" but found {attn_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and dims == 2 and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return dims == 3


def _project_packed(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None) -> list[Tensor]:
    """Query, key and value times the three parts of one weight; in one product where they are one tensor."""
    if query is key and key is value:
        return list(_linear(query, weight, bias).chunk(3, -1))
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return [_linear(*each) for each in zip((query, key, value), weight.chunk(3), biases, strict=True)]


def _static(name: str, tensor: Tensor, rows: int, head_dim: int) -> Tensor:
    for dimension, size in ((0, rows), (2, head_dim)):
        if tensor.size(dimension) != size:
            raise AssertionError(f"expecting {name}.size({dimension}) of {size}, but got {tensor.size(dimension)}")
    return tensor


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What `torch.nn.MultiheadAttention` computes, of given weights: (time, batch, features) or (time, features).

    Gives (output, weights of attention), the latter None without `need_weights`. Options are those of the module.

    >>> x, w = torch.ones(3, 1, 2), torch.eye(2)
    >>> output, weights = multi_head_attention_forward(
    ...     x, x, x, 2, 1, torch.cat([w, w, w]), None, None, None, False, 0.0, w, None)
    >>> output.shape, weights.shape
    (torch.Size([3, 1, 2]), torch.Size([1, 3, 3]))
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, features = query.shape
    source = key.shape[0]
    key_padding_mask = canonical_mask(
        key_padding_mask, "key_padding_mask", none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # scaled_dot_product_attention makes it
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None
    if features != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}")
    head_dim = features // num_heads
    if head_dim * num_heads != features:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")

    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        weights = {"q_proj_weight": q_proj_weight, "k_proj_weight": k_proj_weight, "v_proj_weight": v_proj_weight}
        for name, weight in weights.items():
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name} is None")
        biases = [None] * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (_linear(*each) for each in zip((query, key, value), weights.values(), biases, strict=True))
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _project_packed(query, key, value, in_proj_weight, in_proj_bias)

    if attn_mask is not None:
        expected = (length, source) if attn_mask.dim() == 2 else (batch * num_heads, length, source)
        if attn_mask.shape != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {expected}."
            )
        if attn_mask.dim() == 2:
            attn_mask = attn_mask.unsqueeze(0)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v are set together or not at all")
    rows = batch * num_heads
    added = 0
    if bias_k is not None and bias_v is not None:
        for name, static in (("key", static_k), ("value", static_v)):
            if static is not None:
                raise AssertionError(f"bias cannot be added to static {name}.")
        k, v = torch.cat((k, bias_k.repeat(1, batch, 1))), torch.cat((v, bias_v.repeat(1, batch, 1)))
        added += 1
    q = q.reshape(length, rows, head_dim).transpose(0, 1)
    k = (
        k.reshape(-1, rows, head_dim).transpose(0, 1)
        if static_k is None
        else _static("static_k", static_k, rows, head_dim)
    )
    v = (
        v.reshape(-1, rows, head_dim).transpose(0, 1)
        if static_v is None
        else _static("static_v", static_v, rows, head_dim)
    )
    if add_zero_attn:
        zero = q.new_zeros((rows, 1, head_dim))
        k, v = torch.cat((k, zero), 1), torch.cat((v, zero), 1)
        added += 1
    if added:
        attn_mask = None if attn_mask is None else _C._nn.pad(attn_mask, (0, added))
        key_padding_mask = None if key_padding_mask is None else _C._nn.pad(key_padding_mask, (0, added))
    source = k.size(1)
    if key_padding_mask is not None:
        for dimension, size in ((0, batch), (1, source)):
            if key_padding_mask.shape[dimension] != size:
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{dimension}] to be {size}, "
                    f"but got {key_padding_mask.shape[dimension]}"
                )
        padding = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(rows, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if not training:
        dropout_p = 0.0

    if need_weights:
        scores = torch.bmm(q * math.sqrt(1.0 / head_dim), k.transpose(-2, -1))
        shares = (scores if attn_mask is None else attn_mask + scores).softmax(-1)
        if dropout_p > 0.0:
            shares = torch.dropout(shares, dropout_p, True)
        output = torch.bmm(shares, v).transpose(0, 1).reshape(length * batch, features)
        output = _linear(output, out_proj_weight, out_proj_bias).view(length, batch, -1)
        shares = shares.view(batch, num_heads, length, source)
        if average_attn_weights:
            shares = shares.mean(1)
        return (output, shares) if batched else (output.squeeze(1), shares.squeeze(0))

    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(batch, num_heads, -1, source)
    heads = _C._nn.scaled_dot_product_attention(
        q.view(batch, num_heads, length, head_dim),
        k.view(batch, num_heads, source, head_dim),
        v.view(batch, num_heads, source, head_dim),
        attn_mask,
        dropout_p,
        is_causal,
    )
    output = heads.permute(2, 0, 1, 3).reshape(batch * length, features)
    output = _linear(output, out_proj_weight, out_proj_bias).view(length, batch, -1)
    return (output, None) if batched else (output.squeeze(1), None)
