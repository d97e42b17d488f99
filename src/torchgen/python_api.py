"""What an operator is called in Python: names, overloads and parameters, as the bindings and the type stubs need them.

A *Python function* is one name that users call, `torch.add` or `Tensor.add_`. Its *overloads* are tried in the order of
native_functions.yaml. They differ from the faces of the model in three ways: the out= face is a keyword of its
function, a Tensor that may be a number is one parameter, and factories take `requires_grad`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchgen import api
from torchgen.model import Argument, BaseType, Face, FaceKind, NativeFunction, Type, Variant

if TYPE_CHECKING:
    from torchgen.model import Declarations, Return

REQUIRES_GRAD = Argument(Type(BaseType.BOOL), "requires_grad", "False", keyword_only=True)
OUT = Argument(Type(BaseType.TENSOR, optional=True), "out", "None", keyword_only=True)
_DTYPES = {"long": "torch.int64", "float": "torch.float32", "double": "torch.float64", "bool": "torch.bool"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a Python overload. `takes_numbers`: a Tensor that may be given as a number."""

    argument: Argument
    takes_numbers: bool = False

    @property
    def name(self) -> str:
        """`self` is called `input` where it is not the object, as in PyTorch."""
        return "input" if self.argument.name == "self" else self.argument.name

    @property
    def type(self) -> Type:
        return self.argument.type

    @property
    def default(self) -> str | None:
        """The default as Python text."""
        if self.argument.default is not None and self.type.base is BaseType.SCALAR_TYPE:
            return _DTYPES.get(self.argument.default, self.argument.default)
        if self.type.is_list and self.argument.default is not None and self.argument.default.startswith("["):
            return f"({self.argument.default[1:-1]})"
        return self.argument.default


@dataclass(frozen=True)
class PythonOverload:
    """One way to call a Python function. `face` is what is called, `out_face` what is called when `out` is given."""

    face: Face
    parameters: tuple[Parameter, ...]
    out_face: Face | None

    @property
    def is_function(self) -> bool:
        return Variant.FUNCTION in self.face.variants

    @property
    def is_method(self) -> bool:
        return Variant.METHOD in self.face.variants

    @property
    def is_factory(self) -> bool:
        return any(parameter.argument is REQUIRES_GRAD for parameter in self.parameters)

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if not parameter.argument.keyword_only)

    @property
    def returns(self) -> tuple[Return, ...]:
        return self.face.schema.returns

    def index(self, name: str) -> int:
        """Where the schema's argument `name` stands among the parameters."""
        return next(index for index, parameter in enumerate(self.parameters) if parameter.argument.name == name)

    def takes_varargs(self, as_method: bool) -> bool:
        """Whether `view(2, 3)` may be written for `view((2, 3))`: the list is the only positional parameter."""
        positional = self.positional[1:] if as_method else self.positional
        return (
            len(positional) == 1
            and positional[0].type.is_list
            and positional[0].type.list_size is None
            and (positional[0].type.base in (BaseType.INT, BaseType.TENSOR))
        )


@dataclass(frozen=True)
class PythonFunction:
    """A name with its overloads."""

    name: str
    overloads: tuple[PythonOverload, ...]

    def overloads_as(self, variant: Variant) -> tuple[PythonOverload, ...]:
        return tuple(overload for overload in self.overloads if variant in overload.face.variants)


def python_functions(declarations: Declarations) -> tuple[PythonFunction, ...]:
    """Every Python name, in alphabetical order."""
    by_name: dict[str, list[PythonOverload]] = {}
    for function in declarations.functions:
        for overload in _overloads(function):
            by_name.setdefault(overload.face.schema.name, []).append(overload)
    return tuple(PythonFunction(name, tuple(overloads)) for name, overloads in sorted(by_name.items()))


def _overloads(function: NativeFunction) -> list[PythonOverload]:
    plain = {face.kind: face for face in function.faces if not face.wrapped}
    result = [_overload(plain[FaceKind.SELF], plain.get(FaceKind.OUT))]
    if FaceKind.INPLACE in plain:
        result.append(_overload(plain[FaceKind.INPLACE], None))
    return result


def _overload(face: Face, out_face: Face | None) -> PythonOverload:
    schema = face.schema
    numbers = face.native.numbers
    parameters = [Parameter(argument, argument.name in numbers) for argument in schema.arguments]
    if out_face is not None:
        parameters.append(Parameter(OUT))
    if any(argument.is_options for argument in api.cpp_arguments(schema, public=True)):
        parameters.append(Parameter(REQUIRES_GRAD))
    return PythonOverload(face, tuple(parameters), out_face)


def return_types(declarations: Declarations) -> dict[str, tuple[str, ...]]:
    """The named tuples that functions return: their name and the names of their fields."""
    result: dict[str, tuple[str, ...]] = {}
    for function in declarations.functions:
        names = tuple(item.name for item in function.schema.returns if item.name is not None)
        if len(names) > 1:
            result[function.schema.name] = names
    return result


_TYPE_TEXTS = {
    BaseType.TENSOR: "Tensor",
    BaseType.INT: "int",
    BaseType.FLOAT: "float",
    BaseType.BOOL: "bool",
    BaseType.STR: "str",
    BaseType.SCALAR: "Number",
    BaseType.SCALAR_TYPE: "torch.dtype",
    BaseType.DEVICE: "torch.device",
    BaseType.LAYOUT: "torch.layout",
    BaseType.GENERATOR: "torch.Generator",
}


def documentation(function: PythonFunction, variant: Variant) -> str:
    """One line per overload, as users call it; before it, where that is possible, what inspect.signature reads."""
    overloads = function.overloads_as(variant)
    lines = [_call_text(function.name, overload, variant) for overload in overloads]
    text = "\n".join(lines)
    if len(overloads) == 1:
        signature = _text_signature(overloads[0], variant)
        if signature is not None:
            return f"{function.name}{signature}\n--\n\n{text}"
    return text


def _call_text(name: str, overload: PythonOverload, variant: Variant) -> str:
    parts = []
    starred = False
    for parameter in overload.parameters[1:] if variant is Variant.METHOD else overload.parameters:
        if parameter.argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        kind = _TYPE_TEXTS[parameter.type.base]
        if parameter.type.is_list:
            kind = f"tuple of {kind}s"
        if parameter.takes_numbers:
            kind += " or Number"
        default = "" if parameter.default is None else f"={parameter.default}"
        parts.append(f"{kind} {parameter.name}{default}")
    results = [_TYPE_TEXTS[item.type.base] + ("s" if item.type.is_list else "") for item in overload.returns]
    names = [item.name for item in overload.returns]
    if len(results) > 1:
        result = "(" + ", ".join(f"{kind} {label}" for kind, label in zip(results, names)) + ")"
    else:
        result = results[0] if results else "None"
    return f"{name}({', '.join(parts)}) -> {result}"


def _text_signature(overload: PythonOverload, variant: Variant) -> str | None:
    is_method = variant is Variant.METHOD
    if overload.takes_varargs(is_method):
        return None
    parts = ["$self"] if is_method else ["$module"]
    starred = False
    for parameter in overload.parameters[1:] if is_method else overload.parameters:
        if parameter.name == "from" or (parameter.default or "").startswith("torch."):
            return None  # no Python signature can say so
        if parameter.argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        parts.append(parameter.name + ("" if parameter.default is None else f"={parameter.default}"))
    return f"({', '.join(parts)})"
