"""The CUDA plug-in, and switches for it that programs set. They are kept; there is one way of each computation here."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_built() -> bool:
    """Whether the plug-in is installed; says nothing about a device (see torch.cuda.is_available)."""
    return _C._cuda_version() is not None


class _Matmul:
    """Switches of products of matrices on CUDA devices. They are kept; products are exact here."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"


matmul = _Matmul()

_switches = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduction": False}


def _switch(name: str, what: str) -> tuple[Callable[[bool], None], Callable[[], bool]]:
    def enable(enabled: bool) -> None:
        _switches[name] = bool(enabled)

    def is_enabled() -> bool:
        return _switches[name]

    enable.__doc__ = f"Allows or forbids {what}."
    is_enabled.__doc__ = f"Whether {what} is allowed."
    return enable, is_enabled


enable_flash_sdp, flash_sdp_enabled = _switch("flash", "flash attention")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = _switch("mem_efficient", "attention of little memory")
enable_math_sdp, math_sdp_enabled = _switch("math", "attention by its definition")
enable_cudnn_sdp, cudnn_sdp_enabled = _switch("cudnn", "cuDNN's attention")
allow_fp16_bf16_reduction_math_sdp, fp16_bf16_reduction_math_sdp_allowed = _switch(
    "reduction", "half sums in attention"
)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A block in which only some ways of attention are allowed."""
    before = dict(_switches)
    _switches.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _switches.update(before)


class SDPAParams:
    """What attention is asked to compute, for `can_use_flash_attention` and its like."""

    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any,
        dropout: float,
        is_causal: bool,
        enable_gqa: bool = False,
    ) -> None:
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def is_flash_attention_available() -> bool:
    """Whether FlashAttention is built in: no."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether FlashAttention would compute this: no."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library of linear algebra on CUDA devices: always the plug-in's own choice."""
    return "default"


preferred_blas_library = preferred_linalg_library
