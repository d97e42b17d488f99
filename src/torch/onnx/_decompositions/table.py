"""The table of functions that are recorded by their parts."""

from __future__ import annotations

from typing import Any

DECOMPOSITIONS: dict[str, Any] = {}


def decomposition(function: Any) -> Any:
    """Lists a function under its own name."""
    DECOMPOSITIONS[function.__name__.rstrip("_")] = function
    return function
