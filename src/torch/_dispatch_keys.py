"""Names of PyTorch's dispatcher, which programs put together at import. There is no dispatcher here."""

from __future__ import annotations

from typing import Any

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "_ExcludeDispatchKeyGuard",
    "_IncludeDispatchKeyGuard",
    "_get_tracing_state",
]


class _DispatchKeyMeta(type):
    def __getattr__(cls, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class DispatchKey(metaclass=_DispatchKeyMeta):
    """Keys are their names: `DispatchKey.CPU` is "CPU"."""


class DispatchKeySet:
    """Several keys."""

    def __init__(self, *keys: Any) -> None:
        self.keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys | other.keys))

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys & other.keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys - other.keys))

    def has(self, key: Any) -> bool:
        """Whether it is among them."""
        return key in self.keys


class _ExcludeDispatchKeyGuard:
    """A block in which keys would not count."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = keys

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


class _IncludeDispatchKeyGuard(_ExcludeDispatchKeyGuard):
    """A block in which they would count."""


def _get_tracing_state() -> None:
    """What torch.jit.trace records: nothing here."""
    return
