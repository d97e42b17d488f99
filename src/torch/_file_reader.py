"""`torch.PyTorchFileReader`: the records of a file of `torch.save`, one by one."""

from __future__ import annotations

import zipfile
from typing import IO, TYPE_CHECKING

import torch

if TYPE_CHECKING:
    import os


class PyTorchFileReader:
    """Opens a file; a record is named without the folder that all of them lie in: "data.pkl", "data/0"."""

    def __init__(self, name_or_buffer: str | os.PathLike[str] | IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(name_or_buffer)
        names = self._zip.namelist()
        self._folder = names[0].partition("/")[0]

    def get_all_records(self) -> list[str]:
        """The names of the records."""
        prefix = len(self._folder) + 1
        return [name[prefix:] for name in self._zip.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether there is one of a name."""
        return f"{self._folder}/{name}" in self._zip.namelist()

    def get_record(self, name: str) -> bytes:
        """Its bytes."""
        return self._zip.read(f"{self._folder}/{name}")

    def get_storage_from_record(self, name: str, numel: int, dtype: torch.dtype) -> torch.Tensor:
        """Its first elements as a tensor, whose memory is a copy."""
        return torch.frombuffer(bytearray(self.get_record(name)), dtype=dtype, count=numel)

    def version(self) -> int:
        """The version of the file's format."""
        return int(self.get_record("version"))
