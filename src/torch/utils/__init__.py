"""Helpers around torch: `torch.utils.data`, `torch.utils.cpp_extension`, `torch.utils.hooks`."""

from __future__ import annotations

from typing import Any

_SUBMODULES = ("_pytree", "checkpoint", "cpp_extension", "data", "hooks", "model_zoo")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"torch.utils.{name}")
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
