"""What a checkpoint's `.metadata` holds, pickled under PyTorch's names: what there is, and where it lies."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON

if TYPE_CHECKING:
    import os

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]

VERSION = "1.0.0"  # of the layout, as PyTorch counts


class _MEM_FORMAT_ENCODING(Enum):
    """How a memory format is written."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_FORMATS = (torch.contiguous_format, torch.channels_last, torch.preserve_format)


@dataclass
class TensorProperties:
    """What a tensor is, beside its shape."""

    dtype: torch.dtype = torch.float32
    layout: torch.layout = torch.strided
    requires_grad: bool = False
    memory_format: torch.memory_format = torch.contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> tuple[Any, ...]:
        encoding = _MEM_FORMAT_ENCODING(_FORMATS.index(self.memory_format))
        return self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory = state
        self.memory_format = _FORMATS[encoding.value]

    @staticmethod
    def create_from_tensor(tensor: torch.Tensor) -> TensorProperties:
        """Those of a tensor."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad)


@dataclass
class ChunkStorageMetadata:
    """A block of a tensor: where it begins in each dimension, and its shape."""

    offsets: torch.Size
    sizes: torch.Size


@dataclass
class TensorStorageMetadata:
    """A tensor, and the blocks that it was written in."""

    properties: TensorProperties
    size: torch.Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """Something that is no tensor."""


@dataclass
class StorageMeta:
    """Which checkpoint it is."""

    checkpoint_id: str | os.PathLike[str] | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """All entries by name, their paths in the nested dict (`planner_data`), and where they lie (`storage_data`)."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """Names an entry, or the block of a tensor that begins at `offset`."""

    fqn: str
    offset: torch.Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
