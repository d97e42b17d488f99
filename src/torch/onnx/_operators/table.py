"""The table of operators: (domain, name) -> function of the inputs, attributes by name.

A function may ask for `opset` (which version of the operators is meant), `outputs` (how many are wanted), `training`.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

TABLE: dict[tuple[str, str], Operator] = {}
# Elements of one tensor that a graph may make: so many in any case, more where its weights and inputs are large.
_ALWAYS, _TIMES = 2**26, 64
_most: ContextVar[int] = ContextVar("_most", default=_ALWAYS)


class Refusal(ValueError):
    """An operator was asked for something that is not here, or that makes no sense."""


@dataclass(frozen=True)
class Operator:
    """A row; `names` are the attributes, None where any is taken."""

    function: Callable[..., Any]
    names: frozenset[str] | None

    def _takes(self, name: str) -> bool:
        return self.names is not None and name in self.names

    @property
    def takes_opset(self) -> bool:
        """Whether it asks for the version."""
        return self._takes("opset")

    @property
    def takes_outputs(self) -> bool:
        """Whether it asks how many outputs are wanted."""
        return self._takes("outputs")

    @property
    def takes_training(self) -> bool:
        """Whether it asks if the module trains."""
        return self._takes("training")

    def accepts(self, name: str) -> bool:
        """Whether it has an attribute of this name."""
        return self.names is None or (name in self.names and name not in ("opset", "outputs", "training"))


def operator(*names: str, domain: str = "", options: Any = None) -> Callable[[Any], Any]:
    """Lists a function as these operators; `options` is who gets what it takes as `**options`."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = [*inspect.signature(function).parameters.values()]
        anything = options is None and any(each.kind is each.VAR_KEYWORD for each in parameters)
        parameters += inspect.signature(options).parameters.values() if options else ()
        keywords = frozenset(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
        for name in names:
            TABLE[domain, name] = Operator(function, None if anything else keywords)
        return function

    return add


def numbers(value: Any) -> list[int]:
    """The ints in a tensor or a list."""
    return [int(each) for each in (value.reshape(-1).tolist() if hasattr(value, "tolist") else value)]


@contextlib.contextmanager
def limited_by(tensors: Iterable[Any]) -> Iterator[None]:
    """For the block, `check_size` allows what a graph with these weights and inputs may ask for."""
    token = _most.set(max(_ALWAYS, _TIMES * sum(each.numel() for each in tensors if isinstance(each, torch.Tensor))))
    try:
        yield
    finally:
        _most.reset(token)


def check_size(shape: Sequence[int]) -> list[int]:
    """The shape, if it is one that memory can be asked for."""
    sizes = [int(each) for each in shape]
    if any(each < 0 for each in sizes) or math.prod(sizes) > _most.get():
        raise Refusal(
            f"asked for a tensor of the sizes {sizes}; this graph with these inputs may have {_most.get():,} elements"
        )
    return sizes


def check_broadcast(*tensors: Any) -> None:
    """Refusal where tensors are small alone, and together would be large."""
    if math.prod(each.numel() for each in tensors) > _ALWAYS:
        check_size(torch.broadcast_shapes(*(each.shape for each in tensors)))
