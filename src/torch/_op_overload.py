"""`OpOverload`: what operators of torch and those of programs have in common."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from torch._function_schema import FunctionSchema, parse_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class OpOverload:
    """One operator by its whole name, `torch.ops.aten.add.Tensor`, which is called by its schema."""

    namespace: str
    overloadpacket: Any
    _overloadname = "default"
    _schema_text: str
    # What `torch.library.register_torch_dispatch` registered, by the class of a mode or a tensor.
    _dispatch_rules: dict[type, Callable[..., Any]]

    @property
    def _qualified_name(self) -> str:
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self.overloadpacket.__name__}{overload}"

    def name(self) -> str:
        """ "aten::add.Tensor"."""
        return self._qualified_name

    @cached_property
    def _schema(self) -> FunctionSchema:
        return parse_schema(self._schema_text)

    @property
    def _overloadpacket(self) -> Any:
        return self.overloadpacket

    @property
    def is_view(self) -> bool:
        """Whether its results share memory with an argument that it does not write to."""
        aliases = [item.alias_info for item in self._schema.returns if item.alias_info is not None]
        return bool(aliases) and not any(alias.is_write for alias in aliases)

    @property
    def tags(self) -> list[Any]:
        """Hints for compilers: none."""
        return []

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """NotImplemented: an operator that is asked for has no parts."""
        return NotImplemented

    def has_kernel_for_dispatch_key(self, key: Any) -> bool:
        """Whether it is defined for a dispatch key: those of devices."""
        return str(key).rpartition(".")[2] in ("CPU", "CUDA", "Meta")

    def split_values(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments and keywords of a call whose values stand in the schema's order, without what are defaults."""
        arguments, count, lists = self._layout
        given = list(values)
        for place, length in lists:
            if isinstance(given[place], list) and len(given[place]) == 1:
                given[place] = given[place] * length
        positional = given[:count]
        while positional and _is_default(positional[-1], arguments[len(positional) - 1]):
            positional.pop()
        named = zip(arguments[count:], given[count:], strict=True)
        return tuple(positional), {item.name: value for item, value in named if not _is_default(value, item)}

    @cached_property
    def _layout(self) -> tuple[Sequence[Any], int, Sequence[tuple[int, int]]]:
        """The arguments, how many are positional, and the lists that one number stands for, with their sizes."""
        arguments = self._schema.arguments
        count = sum(not argument.kwarg_only for argument in arguments)
        return arguments, count, [(place, item.N) for place, item in enumerate(arguments) if item.N]


def _is_default(value: Any, argument: Any) -> bool:
    if not argument.has_default_value():
        return False
    if value is None or argument.default_value is None:
        return value is argument.default_value
    kinds = (int, float, bool, str, list, complex)
    return (isinstance(value, kinds) and bool(value == argument.default_value)) or value is argument.default_value


OpOverload.__module__ = "torch._ops"
