"""`save`: several processes write a checkpoint together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._groups import find_group, is_initialized
from torch.distributed._objects import all_gather_object
from torch.distributed.checkpoint._nested_dict import leaves_of
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemWriter, Written

if TYPE_CHECKING:
    import os

    from torch.distributed.checkpoint.metadata import Metadata

__all__ = ["save"]


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: None = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Writes a (nested) dict of tensors and other values into the folder `checkpoint_id`; all processes call it.

    What has a `state_dict()` is taken apart. What several processes have is written by one of them, in turn, so that
    all write about equally much. The folder is complete when it has its `.metadata`, which comes last. It is PyTorch's
    layout. CheckpointException on all processes if one of them cannot write, or if shapes differ.
    """
    writer = storage_for(FileSystemWriter, checkpoint_id, storage_writer, planner)
    group = None if no_dist or not is_initialized() else find_group(process_group)
    leaves = leaves_of({key: taken_apart(value) for key, value in state_dict.items()})
    own = {
        name: (list(leaf.value.shape) if isinstance(leaf.value, torch.Tensor) else None, leaf.path)
        for name, leaf in leaves.items()
    }
    everybody = _told(own, group)
    paths: dict[str, tuple[str | int, ...]] = {name: path for said in everybody for name, (_, path) in said.items()}
    owners: dict[str, int] = {}
    for name in paths:
        holders = [member for member, said in enumerate(everybody) if name in said]
        shapes = [everybody[member][name][0] for member in holders]
        if any(shape != shapes[0] for shape in shapes):
            raise CheckpointException(f"{name} has different shapes: {shapes} on ranks {holders}")
        owners[name] = holders[len(owners) % len(holders)]
    rank = 0 if group is None else group.rank()
    written: Any
    try:
        written = writer.write(rank, {name: leaves[name].value for name, owner in owners.items() if owner == rank})
    except Exception as error:  # it must not keep the others waiting, who wait for no error of a certain kind
        written = f"rank {rank} cannot write its part: {type(error).__name__}: {error}"
    parts = _told(written, group)
    if failures := [part for part in parts if isinstance(part, str)]:
        raise CheckpointException("; ".join(failures))
    together: Written = {name: entry for part in parts for name, entry in part.items()}
    answer: Any = None
    if rank == 0:
        try:
            answer = writer.finish(together, paths)
        except OSError as error:
            answer = f"rank 0 cannot write its part: {error}"
    answer = _told(answer, group)[0]
    if isinstance(answer, str):
        raise CheckpointException(answer)
    whole: Metadata = answer
    return whole


def _told(value: Any, group: Any) -> list[Any]:
    """What every member says."""
    if group is None:
        return [value]
    everybody: list[Any] = [None] * group.size()
    all_gather_object(everybody, value, group)
    return everybody


def taken_apart(value: Any) -> Any:
    """What has a `state_dict()` becomes that."""
    return value.state_dict() if not isinstance(value, dict) and hasattr(value, "state_dict") else value


def storage_for(kind: type[Any], folder: Any, given: Any, planner: Any) -> Any:
    """What reads or writes a checkpoint. RuntimeError for what is not supported."""
    if planner is not None:
        raise RuntimeError(f"planner={planner!r}: {REASON}")
    if given is None and folder is None:
        raise RuntimeError("Cannot determine which storage to use: give checkpoint_id, a folder")
    if given is not None and not isinstance(given, kind):
        raise RuntimeError(f"{given!r}: {REASON}; checkpoints are folders ({kind.__name__})")
    return given if given is not None else kind(folder)


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
