"""What libraries ask of PyTorch's compiler."""

from __future__ import annotations


def is_compile_supported(device_type: str) -> bool:
    """Whether code for a type of device can be compiled: no, it runs eagerly."""
    return False
