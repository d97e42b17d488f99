"""A checkpoint is a folder: `.metadata` says which file holds which entry, and each process has written one file.

Entries are the leaves of nested dicts, by their path ("model.weight"). What several processes have is written by one of
them, in turn, so that all write about equally much.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._collectives import barrier
from torch.distributed._groups import find_group, is_initialized
from torch.distributed._objects import all_gather_object

if TYPE_CHECKING:
    import os

__all__ = ["CheckpointException", "load", "save"]

METADATA = ".metadata"


class CheckpointException(RuntimeError):
    """A checkpoint cannot be written or read: which entry, and why."""


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """The leaves of nested dicts, by their path; what has a `state_dict()` is taken apart, too."""
    if not isinstance(value, dict) and hasattr(value, "state_dict"):
        value = value.state_dict()
    if not isinstance(value, dict):
        return {path: value}
    leaves: dict[str, Any] = {}
    for key, part in value.items():
        leaves.update(_flat(part, f"{path}.{key}" if path else str(key)))
    return leaves


def _group(process_group: Any, no_dist: bool) -> Any:
    return None if no_dist or not is_initialized() else find_group(process_group)


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str],
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Writes a (nested) dict of tensors and other values into the folder `checkpoint_id`; all processes call it.

    The folder is complete when it has its `.metadata`, which comes last.
    """
    folder, group = Path(checkpoint_id), _group(process_group, no_dist)
    folder.mkdir(parents=True, exist_ok=True)
    leaves = _flat(state_dict)
    own = {path: list(value.shape) if isinstance(value, torch.Tensor) else None for path, value in leaves.items()}
    everybody: list[dict[str, Any]] = [own]
    if group is not None:
        everybody = [{} for _ in range(group.size())]
        all_gather_object(everybody, own, group)
    rank = 0 if group is None else group.rank()
    owners: dict[str, int] = {}
    for path in dict.fromkeys(path for member in everybody for path in member):
        holders = [member for member, paths in enumerate(everybody) if path in paths]
        shapes = [everybody[member][path] for member in holders]
        if any(shape != shapes[0] for shape in shapes):
            raise CheckpointException(f"{path} has different shapes: {shapes} on ranks {holders}")
        owners[path] = holders[len(owners) % len(holders)]
    name = f"__{rank}_0.distcp"
    _write(folder / name, {path: leaves[path] for path, owner in owners.items() if owner == rank})
    if group is not None:
        barrier(group)
    if rank == 0:
        _write(folder / METADATA, {path: f"__{owner}_0.distcp" for path, owner in owners.items()})
    if group is not None:
        barrier(group)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Writes a file whole or not at all."""
    whole = path.with_name(path.name + ".part")
    torch.save(content, whole)
    whole.replace(path)


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str],
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Reads a folder that `save` has written, by as many processes or others, into a dict with the same entries.

    Tensors are filled where they are, other values replaced; what has `load_state_dict` gets a new dict. A
    CheckpointException names an entry that the folder does not have, or that has another shape.
    """
    folder = Path(checkpoint_id)
    try:
        where: dict[str, str] = torch.load(folder / METADATA, weights_only=True)
    except FileNotFoundError:
        raise CheckpointException(f"{folder} is no checkpoint: it has no {METADATA}") from None
    files: dict[str, dict[str, Any]] = {}

    def read(path: str) -> Any:
        if path not in where:
            raise CheckpointException(f"Missing key in checkpoint state_dict: {path}.")
        name = where[path]
        if name not in files:
            files[name] = torch.load(folder / Path(name).name, weights_only=True)
        return files[name][path]

    def fill(target: dict[Any, Any], path: str) -> None:
        for key, value in target.items():
            inner = f"{path}.{key}" if path else str(key)
            if not isinstance(value, dict) and hasattr(value, "state_dict"):
                state = value.state_dict()
                fill(state, inner)
                value.load_state_dict(state)
            elif isinstance(value, dict):
                fill(value, inner)
            elif isinstance(value, torch.Tensor):
                saved = read(inner)
                if saved.shape != value.shape:
                    raise CheckpointException(
                        f"Size mismatch between saved {tuple(saved.shape)} and current: "
                        f"{tuple(value.shape)} for {inner}"
                    )
                with torch.no_grad():
                    value.copy_(saved)
            else:
                target[key] = read(inner)

    fill(state_dict, "")
    group = _group(process_group, no_dist)
    if group is not None:
        barrier(group)
