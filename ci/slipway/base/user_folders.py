"""What all checkouts of a user share: the cache, and what must outlive it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_CACHE_HOME/slipway``, or ``~/.cache/slipway``: what can be made again."""
    return _folder(environ, "XDG_CACHE_HOME", ".cache")


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_STATE_HOME/slipway``, or ``~/.local/state/slipway``: what was seen, and cannot be seen again."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state")


def _folder(environ: Mapping[str, str], variable: str, otherwise: str) -> Path:
    base = environ.get(variable, "")
    return (Path(base) if base.startswith("/") else Path.home() / otherwise) / "slipway"
