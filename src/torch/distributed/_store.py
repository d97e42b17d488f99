"""Stores: names and bytes that processes share, by which they find one another.

A store answers requests; all public methods are such requests, so that a kind of store has only to say how one gets
there. `Table` is what answers them, in this process or in the one that serves a TCPStore.
"""

from __future__ import annotations

import datetime
import time
from threading import Condition
from typing import TYPE_CHECKING, Any

from torch.distributed._errors import DistStoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HashStore", "PrefixStore", "Store", "Table"]

DEFAULT_TIMEOUT = datetime.timedelta(seconds=300)


def as_bytes(value: Any) -> bytes:
    """A value as it is stored. TypeError unless it is text or bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"a store keeps str and bytes, not {type(value).__name__}")


class Table:
    """Names and bytes, and the requests about them.

    `changes` has what the requests since it was last emptied have stored, None for what they deleted, if it is a list.
    """

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.changes: list[tuple[bytes, bytes | None]] | None = None

    def answer(self, command: str, parts: Sequence[bytes]) -> list[bytes] | None:
        """The answer to a request, or None if it has to wait for names that are not there. ValueError for rubbish."""
        method = getattr(self, f"_{command}", None) if command in COMMANDS else None
        if method is None:
            raise ValueError(f"a store has no command {command!r}")
        answer: list[bytes] | None = method(*parts)
        return answer

    def put(self, key: bytes, value: bytes | None) -> None:
        """Stores, or deletes."""
        if value is None:
            self.values.pop(key, None)
        else:
            self.values[key] = value
        if self.changes is not None:
            self.changes.append((key, value))

    def _set(self, *pairs: bytes) -> list[bytes]:
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            self.put(key, value)
        return []

    def _get(self, *keys: bytes) -> list[bytes] | None:
        return [self.values[key] for key in keys] if self._has(keys) else None

    def _wait(self, *keys: bytes) -> list[bytes] | None:
        return [] if self._has(keys) else None

    def _has(self, keys: Sequence[bytes]) -> bool:
        return all(key in self.values for key in keys)

    def _check(self, *keys: bytes) -> list[bytes]:
        return [b"1" if self._has(keys) else b""]

    def _add(self, key: bytes, amount: bytes) -> list[bytes]:
        self.put(key, b"%d" % (int(self.values.get(key, b"0")) + int(amount)))
        return [self.values[key]]

    def _append(self, key: bytes, value: bytes) -> list[bytes]:
        self.put(key, self.values.get(key, b"") + value)
        return []

    def _compare_set(self, key: bytes, expected: bytes, desired: bytes) -> list[bytes]:
        found = self.values.get(key)
        if found == expected or (found is None and not expected):
            self.put(key, desired)
            return [desired]
        return [expected if found is None else found]

    def _delete(self, key: bytes) -> list[bytes]:
        there = key in self.values
        self.put(key, None)
        return [b"1" if there else b""]

    def _keys(self) -> list[bytes]:
        return list(self.values)


COMMANDS = ("set", "get", "wait", "check", "add", "append", "compare_set", "delete", "keys")


class Store:
    """Names and bytes that processes share. Values are given as str or bytes, and come back as bytes."""

    def __init__(self) -> None:
        self.timeout = DEFAULT_TIMEOUT

    def _request(self, command: str, parts: list[bytes], timeout: float) -> list[bytes]:
        """The answer to a request; waits for names at most `timeout` seconds. DistStoreError when they are over."""
        raise NotImplementedError(f"{type(self).__name__} has no {command!r}")

    def _ask(self, command: str, *parts: Any, timeout: datetime.timedelta | None = None) -> list[bytes]:
        limit = self.timeout if timeout is None else timeout
        return self._request(command, [as_bytes(part) for part in parts], limit.total_seconds())

    def set(self, key: str, value: str | bytes) -> None:
        """Stores a value under a name, in place of an older one."""
        self._ask("set", key, value)

    def get(self, key: str) -> bytes:
        """The value of a name, for which it waits as long as `timeout`. DistStoreError if it does not come."""
        return self._ask("get", key)[0]

    def add(self, key: str, amount: int) -> int:
        """Adds to the number that a name stands for (0 if it is new), at once for all; the sum."""
        return int(self._ask("add", key, str(int(amount)))[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Appends to the value of a name."""
        self._ask("append", key, value)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Stores the desired value if the name has the expected one ("": or none at all); the value it has then."""
        return self._ask("compare_set", key, expected_value, desired_value)[0]

    def check(self, keys: list[str]) -> bool:
        """Whether all these names have values now."""
        return bool(self._ask("check", *keys)[0])

    def wait(self, keys: list[str], timeout: datetime.timedelta | None = None) -> None:
        """Waits until all these names have values. DistStoreError if that takes longer than the timeout."""
        self._ask("wait", *keys, timeout=timeout)

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """The values of several names, which it waits for."""
        return self._ask("get", *keys) if keys else []

    def multi_set(self, keys: list[str], values: list[str | bytes]) -> None:
        """Stores several values at once. ValueError unless there are as many values as names."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set: {len(keys)} keys and {len(values)} values")
        self._ask("set", *(part for pair in zip(keys, values, strict=True) for part in pair))

    def delete_key(self, key: str) -> bool:
        """Takes a name away; whether it was there."""
        return bool(self._ask("delete", key)[0])

    def list_keys(self) -> list[str]:
        """All names."""
        return [key.decode() for key in self._ask("keys")]

    def num_keys(self) -> int:
        """How many names there are, with those that torch.distributed uses itself."""
        return len(self._ask("keys"))

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """How long `get` and `wait` wait from now on."""
        self.timeout = timeout

    def has_extended_api(self) -> bool:
        """Whether there are append, multi_get and multi_set: yes."""
        return True

    def clone(self) -> Store:
        """Another object for the same store: this one, which threads may share."""
        return self


def late(keys: list[bytes], timeout: float) -> DistStoreError:
    """The error of names that were waited for in vain."""
    names = ", ".join(f"/{key.decode(errors='replace')}" for key in keys)
    return DistStoreError(f"wait timeout after {round(timeout * 1000)}ms, keys: {names}")


class HashStore(Store):
    """A store for the threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._changed = Condition()

    def _request(self, command: str, parts: list[bytes], timeout: float) -> list[bytes]:
        end = time.monotonic() + timeout
        with self._changed:
            while (answer := self._table.answer(command, parts)) is None:
                if not self._changed.wait(end - time.monotonic()):
                    raise late(parts, timeout)
            self._changed.notify_all()
        return answer


class PrefixStore(Store):
    """A store within another: its names start with a prefix there."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store = prefix, store

    @property
    def timeout(self) -> datetime.timedelta:  # type: ignore[override]
        """That of the store around it."""
        return self.underlying_store.timeout

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """How long the store around it waits from now on."""
        self.underlying_store.set_timeout(timeout)

    def _request(self, command: str, parts: list[bytes], timeout: float) -> list[bytes]:
        start = f"{self.prefix}/".encode()
        if command == "keys":
            return [
                key[len(start) :]
                for key in self.underlying_store._request("keys", [], timeout)
                if key.startswith(start)
            ]
        step = {"set": 2, "add": 2, "append": 2, "compare_set": 3}.get(command, 1)  # names are every so many parts
        inner = [start + part if index % step == 0 else part for index, part in enumerate(parts)]
        return self.underlying_store._request(command, inner, timeout)
