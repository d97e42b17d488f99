"""Writes the stubs of torch._C: `torch/_C/__init__.pyi`, _VariableFunctions, the other namespaces and _dtypes.

What is written by hand in C++ stands in the templates; the operators and the element types are added here.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torchgen.model import BaseType, PythonModule
from torchgen.output import Output, fill
from torchgen.python_api import description, return_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchgen.model import Declarations, Return
    from torchgen.python_api import Parameter, PythonFunction, PythonOverload

FOLDER = PurePosixPath("torch/_C")
# Hand-written in C++ with more overloads than the operator has: their stubs stand in the template.
_BY_HAND = frozenset({"view"})
_TYPES = {
    BaseType.TENSOR: "Tensor",
    BaseType.INT: "_int",
    BaseType.FLOAT: "_float",
    BaseType.BOOL: "_bool",
    BaseType.STR: "str",
    BaseType.SCALAR: "NumberArgument | Tensor",
    BaseType.SCALAR_TYPE: "_dtype",
    BaseType.DEVICE: "_device | str | _int",
    BaseType.LAYOUT: "_layout",
    BaseType.MEMORY_FORMAT: "memory_format",
    BaseType.GENERATOR: "Generator",
}


def outputs(declarations: Declarations, functions: Sequence[PythonFunction]) -> Iterator[Output]:
    tuples = return_types(declarations)
    docstrings = {docstring.function: docstring for docstring in declarations.docstrings}
    # What an editor shows: the first sentence.
    summaries = {function.name: description(function, docstrings).split("\n\n")[0] for function in functions}
    methods = [
        _stub(function.name, function.methods(), summaries[function.name], "    ", is_method=True)
        for function in functions
        if function.name not in _BY_HAND and function.methods()
    ]
    named = [_named_tuple(name, fields) for name, fields in tuples.items()]
    yield Output(
        FOLDER / "__init__.pyi",
        fill("python_init.pyi.in", methods="\n".join(methods), return_types="\n\n".join(named)),
    )
    for name, template, module in (
        ("_VariableFunctions", "python_functions.pyi.in", PythonModule.TORCH),
        *((f"_{module.value}", "python_namespace.pyi.in", module) for module in PythonModule if module.is_namespace),
    ):
        stubs = [
            _stub(function.name, function.functions(module), summaries[function.name], "", is_method=False)
            for function in functions
            if function.functions(module)
        ]
        yield Output(
            FOLDER / f"{name}.pyi",
            fill(
                template,
                imports=", ".join(_tuple_name(name) for name in tuples),
                functions="\n".join(stubs),
            ),
        )
    types = declarations.element_types
    yield Output(
        FOLDER / "_dtypes.pyi",
        fill(
            "python_dtypes.pyi.in",
            dtypes="\n".join(f"{name}: dtype" for item in types for name in item.names),
            storages="\n".join(f"class {item.enumerator}Storage(TypedStorage): ..." for item in types),
        ),
    )


def _tuple_name(name: str) -> str:
    return f"_Return_{name}"


def _named_tuple(name: str, fields: tuple[str, ...]) -> str:
    rows = "\n".join(f"    @property\n    def {field}(self) -> Tensor: ..." for field in fields)
    return f"class {_tuple_name(name)}(tuple[Tensor, ...]):\n{rows}"


def _stub(name: str, overloads: tuple[PythonOverload, ...], summary: str, indent: str, is_method: bool) -> str:
    body = f'"""{" ".join(summary.split())}"""' if summary else "..."
    signatures = list(dict.fromkeys(text for overload in overloads for text in _signatures(name, overload, is_method)))
    lines = []
    for signature in signatures:
        if len(signatures) > 1:
            lines.append(f"{indent}@overload")
        lines += [f"{indent}{signature}:", f"{indent}    {body}"]
    return "\n".join(lines)


def _signatures(name: str, overload: PythonOverload, is_method: bool) -> Iterator[str]:
    yield _signature(name, overload, is_method, as_varargs=False)
    if overload.takes_varargs(is_method):
        yield _signature(name, overload, is_method, as_varargs=True)


def _signature(name: str, overload: PythonOverload, is_method: bool, as_varargs: bool) -> str:
    parts = ["self"] if is_method else []
    is_starred = False
    for parameter in overload.parameters[1:] if is_method else overload.parameters:
        if parameter.argument.keyword_only and not is_starred and not as_varargs:
            parts.append("*")
            is_starred = True
        if as_varargs and not parameter.argument.keyword_only:
            parts.append(f"*{parameter.name}: {_TYPES[parameter.type.base]}")
            is_starred = True
        else:
            parts.append(_parameter(parameter))
    return f"def {name}({', '.join(parts)}) -> {_result(overload)}"


def _parameter(parameter: Parameter) -> str:
    # A keyword of Python cannot be a name; such a parameter is given by position.
    name = "from_" if parameter.name == "from" else parameter.name
    kind = _TYPES[parameter.type.base]
    if parameter.takes_numbers:
        kind = "Tensor | NumberArgument"
    if parameter.type.is_list:
        element = "Tensor | None" if parameter.type.element_optional else kind
        kind = f"Sequence[{element}]"
        if parameter.type.list_size is not None:
            kind += f" | {_TYPES[parameter.type.base]}"
    if parameter.type.optional:
        kind += " | None"
    default = "" if parameter.default is None else " = ..."
    return f"{name}: {kind}{default}"


def _result(overload: PythonOverload) -> str:
    returns = overload.returns
    if len(returns) > 1:
        named = all(item.name for item in returns)
        if named:
            return _tuple_name(overload.face.native.schema.name)
        return f"tuple[{', '.join(map(_single_result, returns))}]"
    return _single_result(returns[0]) if returns else "None"


def _single_result(item: Return) -> str:
    if item.type.is_list:
        return "tuple[Tensor, ...]"
    return "Number" if item.type.base is BaseType.SCALAR else _TYPES[item.type.base]
