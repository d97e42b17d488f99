"""`load`: a checkpoint, whoever has written it, becomes what a process has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._collectives import barrier
from torch.distributed._groups import find_group, is_initialized
from torch.distributed.checkpoint._nested_dict import leaves_of
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_saver import storage_for, taken_apart

if TYPE_CHECKING:
    import os

__all__ = ["load"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: None = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Reads a folder that `save`, or PyTorch's, has written, by as many processes or others, into a dict like it.

    Tensors are filled where they are, other values replaced; what has `load_state_dict` gets a new dict. A
    CheckpointException names an entry that the folder does not have, or that has another shape.
    """
    reader = storage_for(FileSystemReader, checkpoint_id, storage_reader, planner)
    kinds = reader.read_metadata().state_dict_metadata
    states = {key: taken_apart(value) for key, value in state_dict.items()}
    for name, leaf in leaves_of(states).items():
        if name not in kinds:
            raise CheckpointException(f"Missing key in checkpoint state_dict: {name}.")
        kind = kinds[name]
        if not isinstance(leaf.value, torch.Tensor) and not isinstance(kind, TensorStorageMetadata):
            leaf.holder[leaf.key] = reader.read(name)
            continue
        if not isinstance(leaf.value, torch.Tensor) or not isinstance(kind, TensorStorageMetadata):
            raise CheckpointException(f"{name} is a tensor here or in the checkpoint, but not in both")
        if tuple(kind.size) != tuple(leaf.value.shape):
            raise CheckpointException(
                f"Size mismatch between saved {tuple(kind.size)} and current: {tuple(leaf.value.shape)} for {name}"
            )
        reader.fill(name, leaf.value)
    for key, state in states.items():
        if state is state_dict[key]:
            continue
        if hasattr(state_dict[key], "load_state_dict"):
            state_dict[key].load_state_dict(state)
        else:
            state_dict[key] = state
    if not no_dist and is_initialized():
        barrier(find_group(process_group))


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
