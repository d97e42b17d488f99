"""The base classes, with functions that are registered as methods: `pipe.batch(3)`."""

from __future__ import annotations

import functools
import pickle
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from torch.utils.data.dataset import Dataset, Item, IterableDataset

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]


class _Registering:
    """Classes of functions that are registered; a class has those of its bases, too."""

    functions: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__name__ in ("IterDataPipe", "MapDataPipe"):
            cls.functions = {}

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return functools.partial(function, self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __repr__(self) -> str:
        return type(self).__qualname__

    @classmethod
    def register_function(cls, function_name: str, function: Any) -> None:
        """`pipe.function_name(...)` calls `function(pipe, ...)`."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False
    ) -> None:
        """`pipe.function_name(...)` makes a `cls_to_register(pipe, ...)`. Exception if the name is taken."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register


class IterDataPipe(_Registering, IterableDataset[Item]):
    """A stream that is made of others: define `__iter__`."""


class MapDataPipe(_Registering, Dataset[Item]):
    """A dataset that is made of others: define `__getitem__`."""


class DFIterDataPipe(IterDataPipe[Any]):
    """A stream of data frames."""


class DataChunk(list[Any]):
    """A batch of items that is a list."""

    def __init__(self, items: Any) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The items as text."""
        return indent + "[" + ", ".join(map(str, self)) + "]"

    def raw_iterator(self) -> Any:
        """The items."""
        yield from self.items


class functional_datapipe:
    """A decorator: a class of pipes is a method, too, under a name."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        if issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        else:
            raise TypeError("functional_datapipe can only decorate IterDataPipe or MapDataPipe")
        return cls


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function: types of items are not checked while a program runs."""
    return function


argument_validation = runtime_validation = non_deterministic = _unchanged


class _Accepted:
    """A block in which nothing is different."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Anything goes."""

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *exception: object) -> None:
        """Nothing did."""


guaranteed_datapipes_determinism = runtime_validation_disabled = _Accepted


class _DataPipeSerializationWrapper:
    """A pipe on its way to another process: with dill where pickle fails and dill is installed."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> tuple[bytes, bool]:
        try:
            return pickle.dumps(self._datapipe), False
        except (pickle.PicklingError, AttributeError, TypeError):
            if find_spec("dill") is None:
                raise
            return import_module("dill").dumps(self._datapipe), True

    def __setstate__(self, state: tuple[bytes, bool]) -> None:
        text, by_dill = state
        self._datapipe = (import_module("dill") if by_dill else pickle).loads(text)

    def __len__(self) -> int:
        return len(self._datapipe)


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe[Any]):
    """A stream on its way to another process."""

    def __iter__(self) -> Any:
        yield from self._datapipe


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe[Any]):
    """A dataset on its way to another process."""

    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]
