"""Ahead-of-time graphs of programs: names that programs mention. `torch.fx.symbolic_trace` traces modules here."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Dim", "ExportedProgram", "draft_export", "export", "load", "register_dataclass", "save"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.export.{name} is not supported: torch.fx.symbolic_trace(module) gives a graph without fixed shapes"
    )


class ExportedProgram:
    """What `export` gives in PyTorch, for annotations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ExportedProgram")


class Dim:
    """A size that may vary: `Dim("batch", min=1)`, for programs that name one before they export."""

    AUTO = "AUTO"
    DYNAMIC = "DYNAMIC"
    STATIC = "STATIC"

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__, self.min, self.max = name, min, max


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several of them."""
    return tuple(Dim(name, min=min, max=max) for name in names)


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("export")


def draft_export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("draft_export")


def save(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("save")


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("load")


def register_dataclass(cls: type[Any], *, serialized_type_name: str | None = None) -> None:
    """Makes a data class a node of `torch.utils._pytree`."""
    from torch.utils._pytree import register_dataclass as register

    register(cls, serialized_type_name=serialized_type_name)
