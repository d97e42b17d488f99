"""Checkpoints that several processes write together: `save` and `load`."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "FileSystemReader",
    "FileSystemWriter",
    "Metadata",
    "TensorStorageMetadata",
    "load",
    "save",
]
__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
