"""Modules of PyTorch that do no work here: their names can be imported, mentioned and compared with, and refuse a call.

`_unavailable_names.py` lists them: a function by its name, a class as `Name(MEMBER,...)`. A class has no instances, so
that `isinstance(x, FullyShardedDataParallel)` is False; the values of an enumeration are their names. What else is
taken of it (`DTensor.from_local`) is refused at once, by an error that is an AttributeError, too: `hasattr` says False.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torch._unavailable_names import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable


# Called while a program is imported: with a function, or with what makes a decorator of functions.
_DECORATORS = ("_require_initialized", "parse_args", "quantized_args")


class _UnavailableClass(ABCMeta):  # of abc, so that classes of programs can inherit from ABC, too
    """The type of classes without work.

    Attributes:
        _home: where PyTorch has the class, and its name.
        _reason: why it is not here.
        _error: what tells that, an AttributeError, too.
    """

    _home: str
    _reason: str
    _error: type[Exception]

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'", name=name, obj=cls)
        raise cls._error(f"{cls._home}.{name}: {cls._reason}")


def define(root: str, reason: str, error: type[Exception] = NotImplementedError) -> Callable[[str], Any]:
    """The `__getattr__` of module `root`, for the names that are listed: a call of one raises `error` with `reason`.

    `dir()` of the module shows them from here on.
    The modules below it that are listed can be imported from here on; those that have a file are left to it.
    """
    places = [Path(place) for place in getattr(sys.modules[root], "__path__", ())]
    missing = type(error.__name__, (error, AttributeError), {})
    classes: dict[str, type] = {}  # by name: PyTorch shows most of them in several modules

    def refusal(module: str, name: str) -> Callable[..., Any]:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            if name == "is_available":
                return False
            if name in _DECORATORS:
                return args[0] if args and callable(args[0]) else lambda function: function
            raise error(f"{module}.{name}: {reason}")

        refuse.__name__ = refuse.__qualname__ = name
        refuse.__module__ = module
        return refuse

    def entries(module: str) -> list[str]:
        return " ".join(NAMES.get(module, "").split()).replace(", ", ",").split()

    def listing(module: str) -> Callable[[], list[str]]:
        return lambda: sorted({*vars(sys.modules[module]), *(entry.partition("(")[0] for entry in entries(module))})

    def getter(module: str) -> Callable[[str], Any]:
        def get(name: str) -> Any:
            for entry in entries(module):
                listed, is_class, listed_members = entry.rstrip(")").partition("(")
                if listed != name:
                    continue
                value: Any = refusal(module, name)
                if is_class:
                    values = {member: member for member in listed_members.split(",") if member}
                    if name not in classes:
                        details = {"_home": f"{module}.{name}", "_reason": reason, "_error": missing}
                        members = {"__new__": value, "__module__": module, **details, **values}
                        classes[name] = _UnavailableClass(name, (), members)
                    value = classes[name]
                setattr(sys.modules[module], name, value)
                return value
            raise AttributeError(f"module '{module}' has no attribute '{name}'", name=name)

        return get

    seen = {root}
    for listed in NAMES:
        if listed.startswith(f"{root}."):
            parts = listed.split(".")
            for end in range(root.count(".") + 2, len(parts) + 1):
                name = ".".join(parts[:end])
                if name in seen:
                    continue
                seen.add(name)
                inner = "/".join(parts[root.count(".") + 1 : end])
                if any((place / inner).is_dir() or (place / f"{inner}.py").is_file() for place in places):
                    continue
                if name not in sys.modules:
                    module: Any = ModuleType(name, f"{name}: {reason}")
                    module.__path__, module.__getattr__, module.__dir__ = [], getter(name), listing(name)
                    sys.modules[name] = module
                parent, _, own = name.rpartition(".")
                if parent in sys.modules:  # one with a file takes it when it is imported
                    setattr(sys.modules[parent], own, sys.modules[name])
    sys.modules[root].__dir__ = listing(root)  # type: ignore[method-assign]
    return getter(root)
