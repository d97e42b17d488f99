"""The optional packages: `onnx` for files, `onnxruntime` to run them."""

from __future__ import annotations

import importlib
from typing import Any

from torch.onnx.errors import MissingPackageError


def require(name: str, purpose: str) -> Any:
    """The module `name`; MissingPackageError that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError(
            f"{purpose} needs the package {name}: `conda install {name.split('.')[0]}` or "
            f"`pip install {name.split('.')[0]}` ({error})",
            name=name,
        ) from error
