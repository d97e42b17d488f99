"""Implementations of attention that other packages bring: a name, and a function that puts them in place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "activate_flash_attention_impl",
    "current_flash_attention_impl",
    "list_flash_attention_impls",
    "register_flash_attention_impl",
    "restore_flash_attention_impl",
]

_log = logging.getLogger(__name__)


def _refuse(name: str) -> Callable[[], Any]:
    def activate() -> Any:
        raise NotImplementedError(f"{name} is made for PyTorch's own kernels of CUDA, which are not here")

    return activate


_registered: dict[str, Callable[[], Any]] = {name: _refuse(name) for name in ("FA3", "FA4")}
_active: list[tuple[str, Any]] = []  # at most one: its name, and what its function gave


def register_flash_attention_impl(impl: str, *, register_fn: Callable[[], Any]) -> None:
    """Gives a name to a function that puts an implementation in place; a handle that it returns has `remove()`."""
    _registered[impl] = register_fn


def list_flash_attention_impls() -> list[str]:
    """The names that `activate_flash_attention_impl` takes."""
    return sorted(_registered)


def activate_flash_attention_impl(impl: str) -> None:
    """Puts an implementation in place of the one before. ValueError for an unknown name."""
    if impl not in _registered:
        raise ValueError(
            f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}"
        )
    if current_flash_attention_impl() == impl:
        return
    restore_flash_attention_impl(_raise_warn=False)
    _active.append((impl, _registered[impl]()))


def current_flash_attention_impl() -> str | None:
    """The name of the one in place; None for this torch's own."""
    return _active[-1][0] if _active else None


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Puts this torch's own attention back."""
    if not _active and _raise_warn:
        _log.warning("Trying to restore default FA2 impl when no custom impl was activated")
    while _active:
        _, handle = _active.pop()
        if handle is not None:
            handle.remove()
