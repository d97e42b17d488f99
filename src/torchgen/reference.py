"""The operator reference: a Markdown page of what every operator gives, its schemas, and how it differentiates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen.model import Kind, PythonModule, Variant

if TYPE_CHECKING:
    from torchgen.model import Declarations, DifferentiabilityInfo, Docstring, Face, NativeFunction

_INTRODUCTION = """\
# Operators

Written by `python -m torchgen --reference` from `src/aten/docstrings.yaml`, `native_functions.yaml`, `derivatives.yaml`
and `kernels.yaml`; change those. First what each function gives, as `help` shows it; then all that can be called.

## What they give

"""
_SCHEMAS = """\
## All that can be called

One row per callable function. "f" is `torch.NAME(...)`, "nn" a function behind `torch.nn.functional`, "linalg", "fft"
and "special" one of that module, "m" `tensor.NAME(...)`; C++ has all of them, as `at::NAME(...)`. "Gradient" lists the
inputs that have one: "through its parts" means that the function calls other operators, which are differentiated;
"none" that the result has no gradient. "Kernels" name the tables of `aten/kernels.yaml` and the backends that fill
them.

| schema | f, m | gradient | kernels |
|---|---|---|---|
"""


def text(declarations: Declarations) -> str:
    """The page, in alphabetical order of the operators' names."""
    sections = [_section(docstring, declarations) for docstring in sorted(declarations.docstrings, key=_name)]
    infos = {str(info.function.schema): info for info in declarations.derivatives}
    backends = {kernel.name: ", ".join(kernel.backends) for kernel in declarations.kernels}
    rows = []
    for function in sorted(declarations.functions, key=lambda function: function.schema.full_name):
        gradient = _gradient(function, infos.get(str(function.schema)))
        kernels = ", ".join(f"{kernel} ({backends[kernel]})" for kernel in function.kernels)
        rows += [
            f"| `{face.schema}` | {_places(face)} | {gradient} | {kernels} |".replace("|  |", "| |")
            for face in function.faces
        ]
    return _INTRODUCTION + "\n".join(sections) + "\n" + _SCHEMAS + "\n".join(rows) + "\n"


def _name(docstring: Docstring) -> str:
    return docstring.function


def _section(docstring: Docstring, declarations: Declarations) -> str:
    functions = [function for function in declarations.functions if docstring.function in function.names]
    names = [name for function in functions for name in function.names]
    others = [f"`{name}`" for name in dict.fromkeys(names) if name != docstring.function]
    title = f"### {docstring.function}\n"
    also = f"Also called {', '.join(others)}.\n" if others else ""
    example = f"```python\n{docstring.example}\n```\n" if docstring.example else ""
    return "\n".join(part for part in (title, f"{docstring.text}\n", also, example) if part)


def _places(face: Face) -> str:
    module = face.python_module
    function = {PythonModule.TORCH: "f", PythonModule.NONE: ""}.get(module, module.value)
    places = [
        function if Variant.FUNCTION in face.variants else "",
        "m" if Variant.METHOD in face.variants else "",
    ]
    return ", ".join(filter(None, places)) or "C++"


def _gradient(function: NativeFunction, info: DifferentiabilityInfo | None) -> str:
    if function.kind is Kind.COMPOSITE:
        return "through its parts"
    if info is None or not info.formulas:
        return "none"
    return ", ".join(formula.input for formula in info.formulas)
