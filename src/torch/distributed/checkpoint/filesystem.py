"""Checkpoints in a folder: `.metadata` says where each entry lies, and each process has written one file of entries.

An entry is what `torch.save` writes, somewhere in a file. This is PyTorch's layout: either reads what the other wrote.
Nothing that is read is run: of what a pickle may name, only the classes of a checkpoint are known.
"""

from __future__ import annotations

import io
import pathlib
import pickle
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.checkpoint import metadata as kinds
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.serialization import _get_layout

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["FileSystemReader", "FileSystemWriter"]

METADATA = ".metadata"


@dataclass
class _StorageInfo:
    """Where an entry lies."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if value is not None}


Written = dict[str, tuple[Any, dict[MetadataIndex, _StorageInfo]]]


def _replace(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    whole = path.with_name(path.name + ".part")
    whole.write_bytes(content)
    whole.replace(path)


class FileSystemWriter:
    """Writes a checkpoint into a folder."""

    def __init__(self, path: str | os.PathLike[str], **kwargs: Any) -> None:
        self.path = Path(path)

    def write(self, rank: int, entries: dict[str, Any]) -> Written:
        """Writes a process's file; what its entries are, and where they lie in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        name, written = f"__{rank}_0.distcp", {}
        whole = self.path / f"{name}.part"
        with whole.open("wb") as file:
            for entry, value in entries.items():
                buffer, kind, index = io.BytesIO(), BytesStorageMetadata(), MetadataIndex(entry)
                if isinstance(value, torch.Tensor):
                    value = value.detach()
                    if value.untyped_storage().nbytes() != value.nbytes:
                        value = value.clone()
                    start = torch.Size([0] * value.dim())
                    chunk = ChunkStorageMetadata(start, value.shape)
                    properties = TensorProperties.create_from_tensor(entries[entry])
                    kind = TensorStorageMetadata(properties, value.shape, [chunk])  # type: ignore[assignment]
                    index = MetadataIndex(entry, start, 0)
                torch.save(value, buffer)
                place = _StorageInfo(name, file.tell(), buffer.getbuffer().nbytes)
                file.write(buffer.getbuffer())
                written[entry] = (kind, {index: place})
        whole.replace(self.path / name)
        return written

    def finish(self, written: Written, paths: dict[str, tuple[str | int, ...]]) -> Metadata:
        """Writes `.metadata`, which makes the checkpoint complete."""
        places = {index: place for _, parts in written.values() for index, place in parts.items()}
        whole = Metadata(
            {entry: kind for entry, (kind, _) in written.items()},
            paths,
            places,
            StorageMeta(str(self.path), str(uuid.uuid4())),
            kinds.VERSION,
        )
        _replace(self.path / METADATA, pickle.dumps(whole))
        return whole


def _make_path(*parts: str) -> str:
    """A path that is only told."""
    return "/".join(parts).replace("//", "/")


class _Unpickler(pickle.Unpickler):
    """Knows the classes of a checkpoint's metadata, and no others."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch.distributed.checkpoint.metadata" and name in (*kinds.__all__, "_MEM_FORMAT_ENCODING"):
            return getattr(kinds, name)
        if module == "torch" and isinstance(found := getattr(torch, name, None), torch.dtype | torch.memory_format):
            return found
        known = {
            "torch.Size": torch.Size,
            "torch.serialization._get_layout": _get_layout,
            "torch.distributed.checkpoint.filesystem._StorageInfo": _StorageInfo,
            "collections.OrderedDict": OrderedDict,
            **{f"pathlib.{kind}": _make_path for kind in ("Path", "PosixPath", "WindowsPath", "PurePosixPath")},
            **{f"pathlib._local.{kind}": _make_path for kind in ("PosixPath", "WindowsPath")},
        }
        if f"{module}.{name}" not in known:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which belongs to no checkpoint")
        return known[f"{module}.{name}"]


class FileSystemReader:
    """Reads a checkpoint from a folder."""

    def __init__(self, path: str | os.PathLike[str], **kwargs: Any) -> None:
        self.path = Path(path)
        self._metadata: Metadata | None = None

    def read_metadata(self) -> Metadata:
        """What the checkpoint holds. CheckpointException if the folder is none."""
        if self._metadata is None:
            try:
                read = _Unpickler(io.BytesIO((self.path / METADATA).read_bytes())).load()
            except FileNotFoundError:
                raise CheckpointException(f"{self.path} is no checkpoint: it has no {METADATA}") from None
            except Exception as error:  # a damaged pickle raises whatever it likes
                raise CheckpointException(f"{self.path / METADATA} cannot be read: {error}") from None
            if not isinstance(read, Metadata) or not isinstance(read.storage_data, dict):
                raise CheckpointException(f"{self.path / METADATA} is no checkpoint's metadata")
            self._metadata = read
        return self._metadata

    def read(self, entry: str) -> Any:
        """The value of an entry that is no tensor."""
        return self._stored(MetadataIndex(entry))

    def fill(self, entry: str, tensor: torch.Tensor) -> None:
        """Fills a tensor with the entry's blocks, of which it has its shape."""
        kind = self.read_metadata().state_dict_metadata[entry]
        assert isinstance(kind, TensorStorageMetadata)
        count = 0
        with torch.no_grad():
            for chunk in kind.chunks:
                block = self._stored(MetadataIndex(entry, torch.Size(chunk.offsets)))
                ends = [start + size for start, size in zip(chunk.offsets, chunk.sizes, strict=True)]
                fits = len(ends) == tensor.dim() and all(
                    0 <= start <= end <= most
                    for start, end, most in zip(chunk.offsets, ends, tensor.shape, strict=True)
                )
                if not (isinstance(block, torch.Tensor) and tuple(block.shape) == tuple(chunk.sizes) and fits):
                    raise CheckpointException(f"{entry} has a block that does not fit at {tuple(chunk.offsets)}")
                place = tuple(slice(start, end) for start, end in zip(chunk.offsets, ends, strict=True))
                tensor[place].copy_(block)
                count += block.numel()
        if count != tensor.numel():
            raise CheckpointException(f"{entry} is not whole: it has {count} of {tensor.numel()} elements")

    def _stored(self, index: MetadataIndex) -> Any:
        """What was saved as this entry or block."""
        place = self.read_metadata().storage_data.get(index)
        if not isinstance(place, _StorageInfo) or pathlib.PurePath(place.relative_path).name != place.relative_path:
            raise CheckpointException(f"{self.path} does not say where {index.fqn} lies")
        if getattr(place, "transform_descriptors", None):
            raise CheckpointException(
                f"{index.fqn} is stored by {place.transform_descriptors}, which is not known here"
            )
        try:
            with (self.path / place.relative_path).open("rb") as file:
                file.seek(place.offset)
                return torch.load(io.BytesIO(file.read(place.length)), weights_only=True)
        except Exception as error:  # a damaged file raises whatever it likes
            raise CheckpointException(f"{index.fqn} cannot be read from {place.relative_path}: {error}") from None


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
