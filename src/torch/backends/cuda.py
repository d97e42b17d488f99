"""The CUDA plug-in, and switches for it that programs set. They are kept; there is one way of each computation here."""

from __future__ import annotations

from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from torch import _C, _switches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_built() -> bool:
    """Whether the plug-in is installed; says nothing about a device (see torch.cuda.is_available)."""
    return _C._cuda_version() is not None


class cuBLASModule:
    """How CUDA devices multiply matrices.

    `allow_tf32`: float32 by TF32, as `torch.set_float32_matmul_precision("high")` has it; `fp32_precision` is the same
    by the words "tf32", "ieee" and "none", which takes torch.backends.cudnn's. `allow_fp16_reduced_precision_reduction`
    and its like of bf16: parts of a sum of halves may be halves. Sums of float16 in float16 are not asked of cuBLAS:
    `allow_fp16_accumulation` stays False.
    """

    _REDUCED: ClassVar = {
        "allow_fp16_reduced_precision_reduction": "reduced_half",
        "allow_bf16_reduced_precision_reduction": "reduced_bfloat16",
    }

    def __getattr__(self, name: str) -> Any:
        if name == "allow_tf32":
            return _switches.product_switch("tf32")
        if name == "fp32_precision":
            return _switches.fp32_precision("matmul")
        if name in self._REDUCED:
            return _switches.product_switch(self._REDUCED[name])
        if name == "allow_fp16_accumulation":
            return False
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "fp32_precision":
            _switches.set_fp32_precision("matmul", value)
        elif name == "allow_tf32":
            _switches.set_float32_matmul_precision("high" if value else "highest")
        elif name in self._REDUCED:
            _switches.set_product_switch(self._REDUCED[name], bool(value))
        elif name == "allow_fp16_accumulation":
            if value:
                raise NotImplementedError("torch.backends.cuda.matmul: sums of float16 are taken in float32")
        else:
            raise AttributeError(f"Unknown attribute {name}")


matmul = cuBLASModule()

_ways_of_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduction": False}


def _switch(name: str, what: str) -> tuple[Callable[[bool], None], Callable[[], bool]]:
    def enable(enabled: bool) -> None:
        _ways_of_attention[name] = bool(enabled)

    def is_enabled() -> bool:
        return _ways_of_attention[name]

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
    before = dict(_ways_of_attention)
    _ways_of_attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _ways_of_attention.update(before)


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


def is_ck_sdpa_available() -> bool:
    """Whether AMD's composable kernels are built in: no."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


class _LinalgBackend(Enum):
    """Who factorises matrices on CUDA devices."""

    Default = 0
    Cusolver = 1
    Magma = 2


class _BlasBackend(Enum):
    """Who multiplies matrices on CUDA devices."""

    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3


_LINALG_LIBRARIES = {
    "default": _LinalgBackend.Default,
    "cusolver": _LinalgBackend.Cusolver,
    "magma": _LinalgBackend.Magma,
}
_BLAS_LIBRARIES = {
    "default": _BlasBackend.Cublas,
    "cublas": _BlasBackend.Cublas,
    "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt,
    "hipblaslt": _BlasBackend.Cublaslt,
    "ck": _BlasBackend.Ck,
}
_ABSENT = {_BlasBackend.Cublaslt: "cuBLASLt", _BlasBackend.Ck: "CK"}


def _read_backend(backend: Any, choices: dict[str, Any]) -> Any:
    if isinstance(backend, type(choices["default"])):
        return backend
    if not isinstance(backend, str):
        raise RuntimeError("Unknown input value type.")
    if backend not in choices:
        raise RuntimeError(f"Unknown input value. Choose from: {', '.join(choices)}.")
    return choices[backend]


def preferred_linalg_library(backend: _LinalgBackend | str | None = None) -> _LinalgBackend:
    """The library of linear algebra on CUDA devices, after it was set to `backend`.

    "default" chooses by routine and size: cuBLAS for LU factorisations of many small matrices and for triangular
    systems, MAGMA, where it is there, for eigenvalues of general matrices from 128 rows on, and cuSOLVER for everything
    else. "cusolver" and "magma" take that library for all that it has: MAGMA has `cholesky`, `lu_factor`, `qr`,
    `eigh`, `eig`, `svd` and what is made of them. torch.cuda.has_magma tells whether the plug-in is built with it.

    Raises:
        RuntimeError: for a library that the plug-in is not built with, and for other words.
    """
    if backend is not None:
        _C._cuda_set_linalg_library(_read_backend(backend, _LINALG_LIBRARIES).value)
    return _LinalgBackend(_C._cuda_linalg_library())


_preferred_blas = _BlasBackend.Cublas


def preferred_blas_library(backend: _BlasBackend | str | None = None) -> _BlasBackend:
    """The library of matrix products on CUDA devices, after it was set to `backend`: "default" or "cublas".

    Raises:
        RuntimeError: for those that are not built in, and for other words.
    """
    global _preferred_blas
    if backend is not None:
        chosen = _read_backend(backend, _BLAS_LIBRARIES)
        if absent := _ABSENT.get(chosen):
            raise RuntimeError(
                f"Cannot set preferred backend to {absent} if PyTorch has not been compiled with {absent}."
            )
        _preferred_blas = chosen
    return _preferred_blas
