"""Which libraries this torch computes with: `mkl`, `openmp`, `cuda`, `cpu`."""

from __future__ import annotations

from typing import Any

_SUBMODULES = ("cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"torch.backends.{name}")
    raise AttributeError(f"module 'torch.backends' has no attribute '{name}'")
