"""What a schema is called in C++; the table stands in ARCHITECTURE.md, "From YAML to C++"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchgen.model import (
    SPARSE_ANY,
    SPARSE_VALUES,
    Argument,
    BaseType,
    Face,
    FaceKind,
    FunctionSchema,
    Kind,
    NativeFunction,
    Type,
    Variant,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_VALUES = {
    BaseType.INT: "int64_t",
    BaseType.FLOAT: "double",
    BaseType.BOOL: "bool",
    BaseType.STR: "::std::string_view",
    BaseType.SCALAR_TYPE: "ScalarType",
    BaseType.DEVICE: "Device",
    BaseType.LAYOUT: "Layout",
    BaseType.MEMORY_FORMAT: "MemoryFormat",
    BaseType.SCALAR: "Scalar",
}
_SCALAR_TYPES = {"long": "kLong", "float": "kFloat", "double": "kDouble", "bool": "kBool"}
_MEMORY_FORMATS = {"contiguous_format": "MemoryFormat::Contiguous", "preserve_format": "MemoryFormat::Preserve"}
_OPTIONS = ("ScalarType? dtype", "Layout? layout", "Device? device", "bool? pin_memory")


@dataclass(frozen=True)
class CppArgument:
    """A C++ parameter. `source` names the schema arguments that it carries: one, or the four of TensorOptions."""

    type: str
    name: str
    default: str | None
    source: tuple[Argument, ...]

    @property
    def is_options(self) -> bool:
        return len(self.source) == len(_OPTIONS)

    @property
    def is_tensor(self) -> bool:
        return self.source[0].type.is_tensor

    @property
    def is_tensor_list(self) -> bool:
        return self.source[0].type.is_tensor_list

    def declaration(self, with_default: bool) -> str:
        return f"{self.type} {self.name}" + (f" = {self.default}" if with_default and self.default is not None else "")


def argument_type(argument: Argument, public: bool) -> str:
    """The C++ type of one argument. Public functions also take `{0, 1}` for an optional list, native ones need not."""
    kind = argument.type
    if kind.is_tensor_list:
        return "TensorList"
    if kind.base is BaseType.TENSOR:
        return "Tensor&" if kind.is_write else "const Tensor&"
    if kind.base is BaseType.GENERATOR:
        return "const Generator&"
    if kind.is_list and kind.base is BaseType.FLOAT:
        return "::std::optional<ArrayRef<double>>" if kind.optional else "ArrayRef<double>"
    if kind.is_list:
        if not kind.optional:
            return "IntArrayRef"
        return "OptionalIntArrayRef" if public else "::std::optional<IntArrayRef>"
    value = _VALUES[kind.base]
    if kind.optional:
        value = f"::std::optional<{value}>"
    return f"const {value}&" if kind.base is BaseType.SCALAR else value


def default_value(argument: Argument) -> str | None:
    """The C++ text of a default, None when there is none."""
    default, kind = argument.default, argument.type
    if default is None:
        return None
    if default == "None":
        return "{}" if kind.base in (BaseType.TENSOR, BaseType.GENERATOR) else "::std::nullopt"
    if kind.is_list:
        return "{" + default[1:-1] + "}"
    if kind.base is BaseType.BOOL:
        return default.lower()
    if kind.base is BaseType.STR:
        return f'"{default[1:-1]}"'
    if kind.base is BaseType.SCALAR_TYPE:
        return _SCALAR_TYPES[default]
    if kind.base is BaseType.MEMORY_FORMAT:
        return _MEMORY_FORMATS[default]
    return default


def cpp_arguments(schema: FunctionSchema, public: bool) -> tuple[CppArgument, ...]:
    """The parameters of a schema in its order, with the four arguments of a factory folded into `options`."""
    result = []
    position = 0
    while position < len(schema.arguments):
        end = position + len(_OPTIONS)
        head = schema.arguments[position:end]
        if head[0].name == "dtype" and tuple(f"{one.type} {one.name}" for one in head) == _OPTIONS:
            dtype = default_value(head[0])
            default = "{}" if dtype == "::std::nullopt" else dtype
            result.append(CppArgument("const TensorOptions&", "options", default, head))
            position = end
        else:
            kind = argument_type(head[0], public)
            result.append(CppArgument(kind, head[0].name, default_value(head[0]), head[:1]))
            position += 1
    return tuple(result)


def result_types(schema: FunctionSchema) -> tuple[str, ...]:
    """The C++ type of each result."""
    return tuple(_single_result(result.type) for result in schema.returns)


def result_type(schema: FunctionSchema) -> str:
    """The C++ type of what a schema returns."""
    types = result_types(schema)
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"::std::tuple<{', '.join(types)}>"


def _single_result(kind: Type) -> str:
    if kind.is_tensor_list:
        return "::std::vector<Tensor>"
    if kind.base is BaseType.TENSOR:
        return "Tensor&" if kind.is_write else "Tensor"
    return _VALUES[kind.base]


@dataclass(frozen=True)
class Signature:
    """A C++ function: what it returns, its name, its parameters."""

    result: str
    name: str
    arguments: tuple[CppArgument, ...]

    def declaration(self, with_defaults: bool = False) -> str:
        """`Tensor add(const Tensor& self, const Tensor& other)`, without a semicolon."""
        arguments = ", ".join(argument.declaration(with_defaults) for argument in self.arguments)
        return f"{self.result} {self.name}({arguments})"


def native_signature(function: NativeFunction) -> Signature:
    """What the author of a native function defines in at::native."""
    arguments = cpp_arguments(function.schema, public=False)
    if function.kind is Kind.STRUCTURED:
        return Signature("void", function.impl, (*arguments, _OUT))
    return Signature(result_type(function.schema), function.impl, arguments)


def has_sparse_function(function: NativeFunction) -> bool:
    """Whether its row names a function for sparse tensors."""
    return function.sparse not in ("", SPARSE_ANY, SPARSE_VALUES)


def sparse_signature(function: NativeFunction) -> Signature:
    """The function that a row names for sparse tensors: what the native one looks like."""
    return replace(native_signature(function), name=function.sparse)


def function_signature(face: Face) -> Signature:
    """The function in namespace at. An out= face is called NAME_out and takes `out` first, as in PyTorch."""
    schema = face.schema
    arguments = cpp_arguments(schema, public=True)
    if face.kind is FaceKind.OUT:
        outs = tuple(CppArgument("Tensor&", out.name, None, (out,)) for out in face.out_arguments)
        return Signature(result_type(schema), f"{schema.name}_out", (*outs, *arguments[: -len(outs)]))
    return Signature(result_type(schema), schema.name, arguments)


_OUT = CppArgument("Tensor&", "out", None, (Argument(Type(BaseType.TENSOR), "out"),))


def method_signature(face: Face) -> Signature | None:
    """The method of class Tensor, without `const`; None when the face is not a method. `self` is the object."""
    if Variant.METHOD not in face.variants:
        return None
    signature = function_signature(face)
    arguments = tuple(argument for argument in signature.arguments if argument.name != "self")
    return Signature(signature.result, signature.name, arguments)


def without_generator(signature: Signature) -> Signature | None:
    """The overload `rand(size, options)` of `rand(size, generator, options)`: C++ cannot skip an argument by name."""
    names = [argument.name for argument in signature.arguments]
    if "options" not in names or "generator" not in names:
        return None
    # Without a default: the call without options is the full signature's.
    arguments = tuple(
        CppArgument(argument.type, argument.name, None, argument.source)
        for argument in signature.arguments
        if argument.name != "generator"
    )
    return Signature(signature.result, signature.name, arguments)


def call(signature: Signature, **replacements: str) -> str:
    """A call that passes each parameter on by name, or as `replacements` says."""
    return f"{signature.name}({pass_on(signature.arguments, **replacements)})"


def pass_on(arguments: Sequence[CppArgument], **replacements: str) -> str:
    return ", ".join(replacements.get(argument.name, argument.name) for argument in arguments)
