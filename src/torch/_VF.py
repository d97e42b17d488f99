"""The compiled functions under the names by which PyTorch's own Python calls them."""

from __future__ import annotations

from typing import Any

import torch


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(torch._C._VariableFunctions, name, None)
    return getattr(torch, name) if found is None else found
