"""The operator reference: a Markdown page of every operator, its faces, where it is found and how it differentiates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen.model import Kind, Variant

if TYPE_CHECKING:
    from torchgen.model import Declarations, DifferentiabilityInfo, NativeFunction

_INTRODUCTION = """\
# Operators

Written by `python -m torchgen --reference`; do not edit. One row per callable function. "f" is `torch.NAME(...)` and
`at::NAME(...)`, "m" is `tensor.NAME(...)`. "Gradient" lists the inputs that have one: "through its parts" means that
the function calls other operators, which are differentiated; "none" that the result has no gradient. "Kernels" name
the tables of `aten/kernels.yaml` and the backends that fill them.

| schema | f, m | gradient | kernels |
|---|---|---|---|
"""


def text(declarations: Declarations) -> str:
    """The page, in alphabetical order of the operators' names."""
    infos = {str(info.function.schema): info for info in declarations.derivatives}
    backends = {kernel.name: ", ".join(kernel.backends) for kernel in declarations.kernels}
    lines = []
    for function in sorted(declarations.functions, key=lambda function: function.schema.full_name):
        gradient = _gradient(function, infos.get(str(function.schema)))
        kernels = ", ".join(f"{kernel} ({backends[kernel]})" for kernel in function.kernels)
        for face in function.faces:
            places = "f" * (Variant.FUNCTION in face.variants) + "m" * (Variant.METHOD in face.variants)
            lines.append(f"| `{face.schema}` | {', '.join(places)} | {gradient} | {kernels} |".replace("|  |", "| |"))
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _gradient(function: NativeFunction, info: DifferentiabilityInfo | None) -> str:
    if function.kind is Kind.COMPOSITE:
        return "through its parts"
    if info is None or not info.formulas:
        return "none"
    return ", ".join(formula.input for formula in info.formulas)
