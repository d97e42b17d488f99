"""A checkpoint of several processes becomes a file of `torch.save`, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.checkpoint._nested_dict import nest
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_saver import save

if TYPE_CHECKING:
    import os

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]) -> None:
    """Writes all that a checkpoint's folder holds into one file, for `torch.load`."""
    reader = FileSystemReader(dcp_checkpoint_dir)
    whole = reader.read_metadata()
    leaves: dict[str, Any] = {}
    for name, kind in whole.state_dict_metadata.items():
        if isinstance(kind, TensorStorageMetadata):
            leaves[name] = torch.empty(tuple(kind.size), dtype=kind.properties.dtype)
            reader.fill(name, leaves[name])
        else:
            leaves[name] = reader.read(name)
    torch.save(nest(leaves, whole.planner_data or {}), torch_save_path)


def torch_save_to_dcp(torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]) -> None:
    """Writes what one file of `torch.save` holds into a checkpoint's folder."""
    save(torch.load(torch_save_path, weights_only=True), checkpoint_id=dcp_checkpoint_dir, no_dist=True)


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
