"""A store in a file, for processes that share a file system."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from pathlib import Path
from typing import BinaryIO

from torch.distributed._store import Store, Table, late

__all__ = ["FileStore"]

LENGTHS = struct.Struct("<qq")  # of a name and of its value, -1 for one that is deleted


class FileStore(Store):
    """A store in a file, which is a log of what was stored and is removed by the last of `world_size` processes."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path, self.world_size = Path(file_name), world_size
        self._table, self._read = Table(), 0
        self._pid = os.getpid()
        self.path.touch()

    def _request(self, command: str, parts: list[bytes], timeout: float) -> list[bytes]:
        end = time.monotonic() + timeout
        while True:
            with self.path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
                self._replay(file)
                self._table.changes = []
                answer = self._table.answer(command, parts)
                records = [
                    LENGTHS.pack(len(key), -1 if value is None else len(value)) + key + (value or b"")
                    for key, value in self._table.changes
                ]
                self._read += file.write(b"".join(records))
            if answer is not None:
                return answer
            if time.monotonic() > end:
                raise late(parts, timeout)
            time.sleep(0.005)

    def _replay(self, file: BinaryIO) -> None:
        """What others have stored since; the file stands at its end then, behind its last whole record."""
        file.seek(self._read)
        while len(head := file.read(LENGTHS.size)) == LENGTHS.size:
            key_size, value_size = LENGTHS.unpack(head)
            body = file.read(key_size + max(value_size, 0)) if key_size >= 0 else b""
            if len(body) < key_size + max(value_size, 0) or key_size < 0:
                break
            self._table.put(body[:key_size], None if value_size < 0 else body[key_size:])
            self._read += LENGTHS.size + len(body)
        file.seek(self._read)

    def __del__(self) -> None:
        if self.world_size < 1 or self._pid != os.getpid():
            return
        try:
            if self.add("leave/", 1) == self.world_size:
                self.path.unlink()
        except OSError:
            pass  # somebody has removed it: that is all it is about
