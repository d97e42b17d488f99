"""Names for annotations of programs."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = torch.device | str | builtins.int | None
FileLike: TypeAlias = Any
Storage: TypeAlias = torch.UntypedStorage
PySymType: TypeAlias = builtins.int | builtins.float | builtins.bool
_TensorOrTensors: TypeAlias = torch.Tensor | Sequence[torch.Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Any
_dtype = torch.dtype
_device = torch.device
_layout = torch.layout
_qscheme = object
_size: TypeAlias = torch.Size | list[builtins.int] | tuple[builtins.int, ...]
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_complex = builtins.complex
_symint: TypeAlias = builtins.int
_dispatchkey: TypeAlias = Any
