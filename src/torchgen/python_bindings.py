"""Writes the Python bindings: parameter tables, one C++ function per overload, method tables, return types."""

from __future__ import annotations

import json
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torchgen import api, python_stubs
from torchgen.model import BaseType, PythonModule
from torchgen.output import Output, fill
from torchgen.python_api import (
    REQUIRES_GRAD,
    Parameter,
    PythonFunction,
    PythonOverload,
    description,
    documentation,
    python_functions,
    return_types,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchgen.model import Declarations, Face, Type

FOLDER = PurePosixPath("torch/csrc/generated")
SHARDS = 4
NAMESPACES = tuple(module for module in PythonModule if module.is_namespace)
_KINDS = {
    BaseType.TENSOR: "Tensor",
    BaseType.INT: "Int",
    BaseType.FLOAT: "Float",
    BaseType.BOOL: "Bool",
    BaseType.STR: "String",
    BaseType.SCALAR: "Scalar",
    BaseType.SCALAR_TYPE: "DType",
    BaseType.DEVICE: "Device",
    BaseType.LAYOUT: "Layout",
    BaseType.MEMORY_FORMAT: "MemoryFormat",
    BaseType.GENERATOR: "Generator",
}
_GETTERS = {
    BaseType.INT: "integer",
    BaseType.FLOAT: "number",
    BaseType.BOOL: "boolean",
    BaseType.STR: "string",
    BaseType.SCALAR: "scalar",
    BaseType.SCALAR_TYPE: "dtype",
    BaseType.DEVICE: "device",
    BaseType.MEMORY_FORMAT: "memory_format",
    BaseType.LAYOUT: "layout",
}


def outputs(declarations: Declarations) -> Iterator[Output]:
    functions = python_functions(declarations)
    tuples = return_types(declarations)
    docstrings = {docstring.function: docstring for docstring in declarations.docstrings}
    descriptions = {function.name: description(function, docstrings) for function in functions}
    yield Output(
        FOLDER / "python_callables.h",
        fill(
            "python_callables.h",
            callables="\n".join(f"extern const Callable {function.name};" for function in functions),
            return_types="\n".join(f"extern PyTypeObject* {name};" for name in tuples),
        ),
    )
    for shard in range(SHARDS):
        # An alias stands with the function that it shares its code with.
        texts = [
            _function(function)
            for function in sorted(functions, key=lambda function: (function.target, function.is_alias))
            if zlib.crc32(function.target.encode()) % SHARDS == shard
        ]
        yield Output(
            FOLDER / f"python_callables_{shard}.cpp",
            fill("python_callables.cpp", definitions="\n\n".join(texts)),
        )
    yield Output(
        FOLDER / "python_tables.cpp",
        fill(
            "python_tables.cpp",
            methods="\n".join(
                _table_row(function, function.methods(), descriptions, as_method=True)
                for function in functions
                if function.methods()
            ),
            functions=_function_rows(functions, descriptions, PythonModule.TORCH),
            namespaces="\n\n".join(_namespace(module, functions, descriptions) for module in NAMESPACES),
            names="\n".join(f'    {{"torch._C._{module.value}", {module.value}_functions}},' for module in NAMESPACES),
            return_types="\n".join(f"PyTypeObject* {name} = nullptr;" for name in tuples),
            fields="\n".join(_return_type_fields(name, fields) for name, fields in tuples.items()),
            registrations="\n".join(_return_type_registration(name, fields) for name, fields in tuples.items()),
        ),
    )
    yield Output(FOLDER / "python_schemas.cpp", fill("python_schemas.cpp", rows="\n".join(_schema_rows(functions))))
    yield from python_stubs.outputs(declarations, functions)


def _schema_rows(functions: Sequence[PythonFunction]) -> Iterator[str]:
    """The operators by their schemas; of an out= form that of its function is called, with `out`."""
    for function in functions:
        for place, overload in enumerate(function.overloads):
            for face in (overload.face, overload.out_face):
                if face is not None and not function.is_alias:
                    yield f"    {{{_text(str(face.schema))}, &callables::{function.name}, {place}}},"


def _text(value: str) -> str:
    """A C++ string literal."""
    return json.dumps(value, ensure_ascii=True)


def _function_rows(functions: Sequence[PythonFunction], descriptions: Mapping[str, str], module: PythonModule) -> str:
    return "\n".join(
        _table_row(function, function.functions(module), descriptions, as_method=False)
        for function in functions
        if function.functions(module)
    )


def _namespace(module: PythonModule, functions: Sequence[PythonFunction], descriptions: Mapping[str, str]) -> str:
    rows = "\n".join([_function_rows(functions, descriptions, module), "    {nullptr, nullptr, 0, nullptr},"])
    return f"static PyMethodDef {module.value}_functions[] = {{\n{rows}\n}};"


def _table_row(
    function: PythonFunction, overloads: tuple[PythonOverload, ...], descriptions: Mapping[str, str], as_method: bool
) -> str:
    call = "call_method" if as_method else "call_function"
    lines = documentation(function, overloads, as_method, descriptions[function.name]).split("\n")
    text = "\n     ".join(
        _text(line + ("\n" if position + 1 < len(lines) else "")) for position, line in enumerate(lines)
    )
    return f'    {{"{function.name}", as_method({call}<callables::{function.name}>), kFastMethod,\n     {text}}},'


def _kind(kind: Type) -> str:
    if kind.is_tensor_list:
        return "OptionalTensorList" if kind.element_optional else "TensorList"
    if kind.is_list:
        return "FloatList" if kind.base is BaseType.FLOAT else "IntList"
    return _KINDS[kind.base]


def _parameter(parameter: Parameter) -> str:
    flags = [
        name
        for name, is_set in (
            ("kHasDefault", parameter.default is not None),
            ("kKeywordOnly", parameter.argument.keyword_only),
            ("kNullable", parameter.type.optional),
            ("kTakesNumbers", parameter.takes_numbers),
            ("kNumbersAlone", parameter.numbers_alone),
        )
        if is_set
    ]
    return (
        f'    {{"{parameter.name}", Kind::{_kind(parameter.type)}, {" | ".join(flags) or "kRequired"}, '
        f"{parameter.type.list_size or 0}, {_text(parameter.default or '')}}},"
    )


def _function(function: PythonFunction) -> str:
    parts = []
    rows = []
    for overload in function.overloads:
        # An overload without parameters has no table: C++ knows no empty arrays.
        table = f"{overload.code}_parameters" if overload.parameters else "nullptr"
        if not function.is_alias:
            parts.append(f"// {overload.face.schema}")
            if overload.parameters:
                parameters = "\n".join(_parameter(parameter) for parameter in overload.parameters)
                parts.append(f"Parameter {table}[] = {{\n{parameters}\n}};")
            parts.append(_call(overload))
        rows.append(
            f"    {{{table}, {len(overload.parameters)}, {len(overload.positional)}, "
            f"{str(overload.is_function).lower()}, {str(overload.is_method).lower()}, {overload.code}}},"
        )
    parts.append(f"const Overload {function.name}_overloads[] = {{")
    return (
        "namespace {\n\n" + "\n".join([*parts, *rows]) + "\n};\n\n}  // namespace\n"
        f'const Callable callables::{function.name} = {{"{function.name}", {function.name}_overloads, {len(rows)}}};'
    )


def _call(overload: PythonOverload) -> str:
    """The C++ function of an overload: values into locals, the call, without the GIL if it is long, the result."""
    lines = [f"PyObject* {overload.code}([[maybe_unused]] Arguments& arguments) {{"]
    face = overload.face
    arguments = api.cpp_arguments(face.schema, public=True)
    for argument in arguments:
        lines.append("  " + _local(overload, argument))
    passed = ", ".join(argument.name for argument in arguments)
    if overload.out_face is not None:
        index = overload.index("out")
        count = len(overload.out_face.out_arguments)
        outs = ["out"] if count == 1 else [f"outs[{position}]" for position in range(count)]
        out_call = f"run(arguments, [&] {{ at::{face.schema.name}_out({', '.join(outs)}, {passed}); }});"
        lines.append(f"  if (arguments.has({index})) {{")
        if count == 1:
            lines.append(f"    at::Tensor& out = arguments.mutable_tensor({index});")
            lines += [f"    {out_call}", f"    return new_reference(arguments.object({index}));"]
        else:
            lines.append(f"    std::vector<at::Tensor> outs = arguments.out_tensors({index}, {count});")
            results = f"std::make_tuple({', '.join(outs)})"
            lines += [f"    {out_call}", f"    {_wrapped_tuple(overload, results, suffix='_out')}"]
        lines.append("  }")
    lines += _result(overload, f"at::{face.schema.name}({passed})")
    return "\n".join([*lines, "}"])


def _result(overload: PythonOverload, call: str) -> list[str]:
    face: Face = overload.face
    if face.is_inplace:
        return [f"  run(arguments, [&] {{ {call}; }});", "  return new_reference(arguments.object(0));"]
    if not overload.returns:
        return [f"  run(arguments, [&] {{ {call}; }});", "  return new_none();"]
    lines = [f"  auto result = run(arguments, [&] {{ return {call}; }});"]
    if overload.is_factory:
        index = next(
            index for index, parameter in enumerate(overload.parameters) if parameter.argument is REQUIRES_GRAD
        )
        lines.append(f"  if (arguments.boolean({index}, false)) result.requires_grad_(true);")
    if len(overload.returns) > 1:
        lines.append(f"  {_wrapped_tuple(overload, 'std::move(result)')}")
    else:
        lines.append("  return wrap(std::move(result));")
    return lines


def _wrapped_tuple(overload: PythonOverload, value: str, suffix: str = "") -> str:
    if all(item.name for item in overload.returns):
        return f"return wrap_tuple(return_types::{overload.face.native.schema.name}{suffix}, {value});"
    return f"return wrap_tuple({value});"


def _local(overload: PythonOverload, argument: api.CppArgument) -> str:
    """The statement that makes a C++ argument of its Python value."""
    index = overload.index(argument.source[0].name)
    kind = argument.source[0].type
    name = argument.name
    if argument.is_options:
        dtype = "" if argument.default in (None, "{}") else f", at::{argument.default}"
        return f"const at::TensorOptions {name} = arguments.options({index}{dtype});"
    if kind.is_tensor_list:
        return f"const std::vector<at::Tensor> {name} = arguments.tensor_list({index});"
    if kind.base is BaseType.TENSOR:
        if kind.is_write:
            return f"at::Tensor& {name} = arguments.mutable_tensor({index});"
        return f"const at::Tensor& {name} = arguments.tensor({index});"
    if kind.base is BaseType.GENERATOR:
        return f"const at::Generator {name} = arguments.generator({index});"
    if kind.is_list and kind.base is BaseType.FLOAT:
        if kind.optional:
            return (
                f"const auto {name}_values = arguments.optional_numbers({index});\n"
                f"  const auto {name} = "
                f"{name}_values ? std::optional<at::ArrayRef<double>>(*{name}_values) : std::nullopt;"
            )
        return f"const std::vector<double> {name} = arguments.numbers({index});"
    if kind.is_list:
        if kind.optional:
            return (
                f"const auto {name}_values = arguments.optional_integers({index});\n"
                f"  const std::optional<at::IntArrayRef> {name} = optional_view({name}_values);"
            )
        default = argument.source[0].default
        otherwise = "" if default in (None, "[]") else f", {{{str(default)[1:-1]}}}"
        return f"const at::DimVector {name} = arguments.integers({index}{otherwise});"
    getter = _GETTERS[kind.base]
    if kind.optional:
        has_value = argument.default not in (None, "::std::nullopt")
        otherwise = f".value_or({_qualified(argument.default)})" if has_value else ""
        return f"const auto {name} = arguments.optional_{getter}({index}){otherwise};"
    if argument.default is None:
        return f"const auto {name} = arguments.{getter}({index});"
    return f"const auto {name} = arguments.{getter}({index}, {_qualified(argument.default)});"


def _qualified(default: str | None) -> str:
    text = default or ""
    return f"at::{text}" if text.startswith(("k", "MemoryFormat")) else text


def _return_type_fields(name: str, fields: tuple[str, ...]) -> str:
    rows = "".join(f'{{"{field}", nullptr}}, ' for field in fields)
    return f"PyStructSequence_Field {name}_fields[] = {{{rows}{{nullptr, nullptr}}}};"


def _return_type_registration(name: str, fields: tuple[str, ...]) -> str:
    return (
        f'  return_types::{name} = make_return_type(types, "{name}", "torch.return_types.{name}", {name}_fields, '
        f"{len(fields)});"
    )
