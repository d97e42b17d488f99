"""Helpers around torch: `torch.utils.data`, `torch.utils.cpp_extension`, `torch.utils.hooks`."""

from __future__ import annotations

from typing import Any

_SUBMODULES = (
    "_pytree",
    "benchmark",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "dlpack",
    "hooks",
    "model_zoo",
    "tensorboard",
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"torch.utils.{name}")
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
