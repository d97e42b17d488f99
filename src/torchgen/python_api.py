"""What an operator is called in Python: names, overloads and parameters, as the bindings and the type stubs need them.

A *Python function* is one name that users call, `torch.add` or `Tensor.add_`. Its *overloads* are tried in the order of
native_functions.yaml. They differ from the faces of the model in three ways: the out= face is a keyword of its
function, a Tensor that may be a number is one parameter, and factories take `requires_grad`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchgen import api
from torchgen.model import Argument, BaseType, Face, FaceKind, PythonModule, Type, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchgen.model import Declarations, Docstring, Return

REQUIRES_GRAD = Argument(Type(BaseType.BOOL), "requires_grad", "False", keyword_only=True)
OUT = Argument(Type(BaseType.TENSOR, optional=True), "out", "None", keyword_only=True)
OUTS = Argument(Type(BaseType.TENSOR, is_list=True, optional=True), "out", "None", keyword_only=True)
_DTYPES = {"long": "torch.int64", "float": "torch.float32", "double": "torch.float64", "bool": "torch.bool"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a Python overload.

    `takes_numbers`: a Tensor that may be given as a number; `numbers_alone`: also where all the others are numbers.
    """

    argument: Argument
    takes_numbers: bool = False
    numbers_alone: bool = False

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
        if self.argument.default is not None and self.type.base is BaseType.MEMORY_FORMAT:
            return self.argument.default if self.argument.default == "None" else f"torch.{self.argument.default}"
        if self.type.is_list and self.argument.default is not None and self.argument.default.startswith("["):
            return f"({self.argument.default[1:-1]})"
        return self.argument.default


@dataclass(frozen=True)
class PythonOverload:
    """One way to call a Python function. `face` is what is called, `out_face` what is called when `out` is given.

    `code` names the C++ function that makes the call; an alias shares it with the function that it stands for.
    """

    code: str
    face: Face
    parameters: tuple[Parameter, ...]
    out_face: Face | None

    @property
    def python_module(self) -> PythonModule:
        return self.face.python_module

    @property
    def is_function(self) -> bool:
        shown = Variant.FUNCTION in self.face.variants or self._is_inplace_function
        return shown and self.python_module is not PythonModule.NONE

    @property
    def is_method(self) -> bool:
        shown = Variant.METHOD in self.face.variants and not self._is_inplace_function
        return shown and self.python_module is not PythonModule.NONE

    @property
    def _is_inplace_function(self) -> bool:
        """The in-place face of what is no method (`silu_`) is no method in Python either, but a function beside it."""
        return self.face.kind is FaceKind.INPLACE and Variant.METHOD not in self.face.native.variants

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
        """Whether `view(2, 3)` may be written for `view((2, 3))`: a list of ints is the only positional parameter."""
        positional = self.positional[1:] if as_method else self.positional
        return (
            len(positional) == 1
            and positional[0].type.is_list
            and positional[0].type.list_size is None
            and positional[0].type.base is BaseType.INT
        )


@dataclass(frozen=True)
class PythonFunction:
    """A name with its overloads."""

    name: str
    overloads: tuple[PythonOverload, ...]

    @property
    def target(self) -> str:
        """The Python function that this one is an alias of, or itself."""
        first = self.overloads[0].face
        return first.native.schema.name + self.name.removeprefix(first.name)

    @property
    def is_alias(self) -> bool:
        return self.overloads[0].face.is_alias

    def methods(self) -> tuple[PythonOverload, ...]:
        return tuple(overload for overload in self.overloads if overload.is_method)

    def functions(self, module: PythonModule) -> tuple[PythonOverload, ...]:
        return tuple(
            overload for overload in self.overloads if overload.is_function and overload.python_module is module
        )


def python_functions(declarations: Declarations) -> tuple[PythonFunction, ...]:
    """Every name with its overloads, in alphabetical order; torch.ops.aten calls also those that nothing else shows."""
    by_name: dict[str, list[PythonOverload]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    for function in declarations.functions:
        codes: dict[FaceKind, str] = {}
        for name in function.names:
            plain = {face.kind: face for face in function.faces if face.name == name and not face.wrapped}
            for kind in (FaceKind.SELF, FaceKind.INPLACE):
                if kind not in plain:
                    continue
                python_name = plain[kind].schema.name
                if kind not in codes:
                    codes[kind] = f"{python_name}_{counts[python_name]}"
                    counts[python_name] += 1
                out_face = plain.get(FaceKind.OUT) if kind is FaceKind.SELF else None
                by_name[python_name].append(_overload(codes[kind], plain[kind], out_face))
    return tuple(PythonFunction(name, tuple(overloads)) for name, overloads in sorted(by_name.items()))


def _overload(code: str, face: Face, out_face: Face | None) -> PythonOverload:
    schema = face.schema
    numbers, alone = face.native.numbers, face.native.numbers_alone
    parameters = [
        Parameter(argument, argument.name in numbers, argument.name in numbers and alone)
        for argument in schema.arguments
    ]
    is_options = any(argument.is_options for argument in api.cpp_arguments(schema, public=True))
    if out_face is not None:
        out = Parameter(OUT if len(out_face.out_arguments) == 1 else OUTS)
        # Before dtype, layout, device and pin_memory, where PyTorch has it.
        first = next(
            (index for index, item in enumerate(parameters) if is_options and item.name == "dtype"), len(parameters)
        )
        parameters.insert(first, out)
    if is_options:
        parameters.append(Parameter(REQUIRES_GRAD))
    return PythonOverload(code, face, tuple(parameters), out_face)


def return_types(declarations: Declarations) -> dict[str, tuple[str, ...]]:
    """The named tuples that functions return: their name and the names of their fields."""
    result: dict[str, tuple[str, ...]] = {}
    for function in declarations.functions:
        names = tuple(item.name for item in function.schema.returns if item.name is not None)
        if len(names) > 1:
            result[function.schema.name] = names
            if FaceKind.OUT in function.extra_faces:
                result[f"{function.schema.name}_out"] = names
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
    BaseType.MEMORY_FORMAT: "torch.memory_format",
    BaseType.GENERATOR: "torch.Generator",
}


def documentation(function: PythonFunction, overloads: tuple[PythonOverload, ...], as_method: bool, text: str) -> str:
    """What help() shows: one line per overload, as users call it, and `text`, the description of the function.

    Before them, where that is possible, what inspect.signature reads.
    """
    lines = [_call_text(function.name, overload, as_method) for overload in overloads]
    page = "\n".join(lines) + (f"\n\n{text}" if text else "")
    if len(overloads) == 1:
        signature = _text_signature(overloads[0], as_method)
        if signature is not None:
            return f"{function.name}{signature}\n--\n\n{page}"
    return page


def description(function: PythonFunction, docstrings: Mapping[str, Docstring]) -> str:
    """The text of a function from docstrings.yaml; an alias and an in-place form say what they are a form of."""
    own = docstrings.get(function.name)
    if own is not None:
        return own.text + (f"\n\nExample:\n\n{own.example}" if own.example else "")
    target = function.target
    plain = docstrings.get(target) or docstrings.get(target.removesuffix("_"))
    if plain is None:
        return ""
    if function.is_alias:
        return f"The same as `{target}`.\n\n{plain.text}"
    return (
        f"Does what `{target.removesuffix('_')}` does in place: writes to this tensor and returns it.\n\n{plain.text}"
    )


def _call_text(name: str, overload: PythonOverload, as_method: bool) -> str:
    parts = []
    starred = False
    for parameter in overload.parameters[1:] if as_method else overload.parameters:
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
        result = "(" + ", ".join(f"{kind} {label}" if label else kind for kind, label in zip(results, names)) + ")"
    else:
        result = results[0] if results else "None"
    return f"{name}({', '.join(parts)}) -> {result}"


def _text_signature(overload: PythonOverload, is_method: bool) -> str | None:
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
