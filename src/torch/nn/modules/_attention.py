"""Attention of several heads as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch import Tensor


class MultiheadAttention(Module):
    """Attention of `num_heads` heads: each compares projected queries with keys, and mixes values accordingly.

    embed_dim: features of queries and results, which `num_heads` divides; kdim, vdim: those of keys and values;
    dropout: of the weights of attention, in training; add_bias_kv: a learned key and value more; add_zero_attn: a key
    and value of zeros more; batch_first: (batch, time, features) rather than (time, batch, features).

    The call takes query, key and value, and `key_padding_mask` (batch, source), `attn_mask` (target, source) or
    (batch * heads, target, source): True, or -inf, where nothing is to be seen. It gives (output, weights): the latter
    (batch, target, source), by head with `average_attn_weights=False`, None with `need_weights=False`.

    >>> attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.zeros(3, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    __module__ = "torch.nn.modules.activation"  # where PyTorch has it

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(torch.empty((3 * embed_dim, embed_dim), **made))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(torch.empty((embed_dim, embed_dim), **made))
            self.k_proj_weight = Parameter(torch.empty((embed_dim, self.kdim), **made))
            self.v_proj_weight = Parameter(torch.empty((embed_dim, self.vdim), **made))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(torch.empty(3 * embed_dim, **made)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty((1, 1, embed_dim), **made))
            self.bias_v = Parameter(torch.empty((1, 1, embed_dim), **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Modules pickled long ago had one size for all."""
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights of attention)."""
        transposed = self.batch_first and query.dim() == 3
        if transposed:  # one tensor stays one tensor, whose three projections are one product
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {name: getattr(self, name) for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight")}
        output, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            **separate,
        )
        return (output.transpose(1, 0) if transposed else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """One mask of both, and its kind: 0 for attention, 1 for padding, 2 for both (batch, heads, time, time)."""
        merged, kind = None, None
        if key_padding_mask is not None:
            merged, kind = key_padding_mask, 1
        if attn_mask is not None:
            batch, length = query.shape[:2]
            kind = 2
            by_head = (
                attn_mask.view(batch, -1, length, length)
                if attn_mask.dim() == 3
                else attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
            )
            merged = by_head
            if key_padding_mask is not None:
                merged = by_head + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, kind
