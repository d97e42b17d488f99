"""From a formula to a node of the autograd graph: its name, what it saves, and the code of its formulas.

A node saves only what its formulas mention. Where a formula asks for a property (`self.sizes()`) the property is saved
and not the tensor, so that the tensor's memory can go.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchgen import api
from torchgen.errors import DeclarationError
from torchgen.model import Argument, BaseType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchgen.model import DifferentiabilityInfo, Formula

# property of a Tensor -> the C++ type that keeps it
_PROPERTIES = {
    "sizes()": "::std::vector<int64_t>",
    "strides()": "::std::vector<int64_t>",
    "dim()": "int64_t",
    "numel()": "int64_t",
    "storage_offset()": "int64_t",
    "scalar_type()": "ScalarType",
    "options()": "TensorOptions",
    "device()": "Device",
    "layout()": "Layout",
}
_PROPERTY = re.compile(rf"(?<![\w.:>])([A-Za-z_]\w*)\.({'|'.join(map(re.escape, _PROPERTIES))})|\bsizes_of\((\w+)\)")
_VECTORS = ("sizes()", "strides()")
_LIST_SIZES = "::std::vector<::std::vector<int64_t>>"


@dataclass(frozen=True)
class Saved:
    """A field of a node. `kind` is tensor, tensors, result or value; `value` is what the wrapper stores.

    `needed_by` are the positions of the inputs whose formulas mention it; all: it is always saved.
    """

    kind: str
    name: str
    cpp_type: str
    value: str
    needed_by: frozenset[int]

    @property
    def field(self) -> str:
        """Tensors are kept packed, under the name with an underscore; the formula sees the unpacked one."""
        return self.name if self.kind == "value" else f"{self.name}_"


@dataclass(frozen=True)
class NodeClass:
    """A node class. `formulas` are rewritten: properties are replaced by fields."""

    name: str
    info: DifferentiabilityInfo
    formulas: tuple[Formula, ...]
    expressions: tuple[str, ...]
    saved: tuple[Saved, ...]

    @property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(self.info.function.schema.argument(formula.input) for formula in self.formulas)


def node_classes(infos: Iterable[DifferentiabilityInfo]) -> tuple[NodeClass, ...]:
    """The node of every function that has a formula, in order. Overloads are numbered, as in PyTorch."""
    count: Counter[str] = Counter()
    result = []
    for info in infos:
        if not info.formulas:
            continue
        name = info.node
        if not name:
            words = info.function.schema.name.strip("_").split("_")
            base = "".join(word[:1].upper() + word[1:] for word in words) + "Backward"
            name = f"{base}{count[base]}"
            count[base] += 1
        result.append(_node_class(name, info))
    return tuple(result)


def identifiers(expression: str) -> set[str]:
    """The names that stand alone in a C++ expression: not members, not qualified, not called."""
    found = re.finditer(r"(?<![\w.:>])([A-Za-z_]\w*)(?!\w|::)", re.sub(r'"[^"]*"', "", expression))
    return {match[1] for match in found}


def _node_class(name: str, info: DifferentiabilityInfo) -> NodeClass:
    schema = info.function.schema
    arguments = {argument.name: argument for argument in api.cpp_arguments(schema, public=False)}
    results = _result_names(info)
    expressions = []
    needs: dict[tuple[str, str], set[int]] = {}
    for position, formula in enumerate(info.formulas):
        if formula.expression.startswith("with "):
            before = info.formulas[position - 1] if position else formula
            if formula.expression not in (f"with {before.input}", before.expression):
                raise DeclarationError(
                    formula.location, "expected `with` and the input before, or one that is `with` it"
                )
            expressions.append("")
            continue
        expression, properties = _replace_properties(formula.expression, set(arguments))
        expressions.append(expression)
        for tensor, what in properties:
            needs.setdefault((tensor, what), set()).add(position)
        for word in identifiers(expression) & (set(arguments) | set(results)):
            needs.setdefault((word, ""), set()).add(position)
        if not identifiers(expression) & {"grad", "grads"}:
            raise DeclarationError(formula.location, f"the formula of `{formula.input}` does not use `grad`")
    saved = tuple(
        _saved(tensor, what, _with_followers(positions, expressions), arguments, results)
        for (tensor, what), positions in needs.items()
    )
    return NodeClass(name, info, info.formulas, tuple(expressions), tuple(sorted(saved, key=lambda item: item.field)))


def _with_followers(positions: set[int], expressions: list[str]) -> frozenset[int]:
    """The positions, and those behind each of them whose gradients come with it."""
    found = set(positions)
    for position, expression in enumerate(expressions):
        if not expression and position - 1 in found:
            found.add(position)
    return frozenset(found)


def _result_names(info: DifferentiabilityInfo) -> tuple[str, ...]:
    returns = info.function.schema.returns
    if len(returns) == 1:
        return ("result",)
    return tuple(result.name or f"result{index}" for index, result in enumerate(returns))


def _replace_properties(expression: str, arguments: set[str]) -> tuple[str, list[tuple[str, str]]]:
    """`grad.expand(self.sizes())` becomes `grad.expand(self_sizes)` and [("self", "sizes()")]."""
    found: list[tuple[str, str]] = []

    def replace(match: re.Match[str]) -> str:
        argument, what = match[1] or match[3], match[2] or "sizes_of"
        if argument not in arguments:
            return match[0]
        found.append((argument, what))
        return f"{argument}_{'sizes' if what == 'sizes_of' else what[:-2]}"

    return _PROPERTY.sub(replace, expression), found


def _saved(
    name: str,
    what: str,
    needed_by: frozenset[int],
    arguments: dict[str, api.CppArgument],
    results: tuple[str, ...],
) -> Saved:
    if what == "sizes_of":
        return Saved("value", f"{name}_sizes", _LIST_SIZES, f"sizes_of({name})", needed_by)
    if what:
        value = f"{name}.{what}" + (".vec()" if what in _VECTORS else "")
        return Saved("value", f"{name}_{what[:-2]}", _PROPERTIES[what], value, needed_by)
    if name in results:
        return Saved("result", name, "SavedVariable", name, needed_by)
    argument = arguments[name]
    if argument.is_tensor_list:
        return Saved("tensors", name, "::std::vector<SavedVariable>", name, needed_by)
    if argument.is_tensor:
        return Saved("tensor", name, "SavedVariable", name, needed_by)
    return _saved_value(name, argument, needed_by)


def _saved_value(name: str, argument: api.CppArgument, needed_by: frozenset[int]) -> Saved:
    kind = argument.source[0].type
    if kind.is_list and kind.optional:
        # The wrapper has it as an OptionalIntArrayRef.
        return Saved("value", name, "::std::optional<::std::vector<int64_t>>", f"{name}.vec()", needed_by)
    if kind.is_list:
        return Saved("value", name, "::std::vector<int64_t>", f"{name}.vec()", needed_by)
    if kind.base is BaseType.STR:
        text = "::std::optional<::std::string>" if kind.optional else "::std::string"
        return Saved("value", name, text, f"{text}({name})", needed_by)
    bare = argument.type.replace("const ", "").rstrip("&")
    return Saved("value", name, bare, name, needed_by)
