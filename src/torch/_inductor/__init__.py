"""PyTorch's compiler: not here. Models run eagerly; `torch.compile` says more."""

from __future__ import annotations

from typing import Any

from torch._dynamo import config as config


def cudagraph_mark_step_begin() -> None:
    """Where a compiled model would begin an iteration: nothing happens."""


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options of modes of compilation: none."""
    return {}


def list_options() -> list[str]:
    """The names of options: none."""
    return []
