"""Classes that PyTorch's C++ extensions register (`torch.classes.NAMESPACE.Name`): there are none here."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

loaded_libraries: set[str] = set()


class _ClassNamespace(ModuleType):
    """The classes of one namespace: none."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = self.__name__.rpartition(".")[2]
        raise RuntimeError(
            f"Tried to instantiate class '{namespace}.{name}', but it does not exist! "
            "Ensure that it is registered via torch::class_"
        )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    globals()[name] = _ClassNamespace(f"torch.classes.{name}")
    return globals()[name]


def load_library(path: str) -> NoReturn:
    """NotImplementedError: classes are registered with PyTorch's own libraries."""
    raise NotImplementedError(f"torch.classes.load_library({path!r}) is not supported")
