"""Whether Triton compiles kernels here: it does not."""

from __future__ import annotations


def has_triton_package() -> bool:
    """Whether Triton is used: no, also where it is installed."""
    return False


has_triton = has_triton_tma = has_triton_tma_device = has_triton_package
