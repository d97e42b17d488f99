"""Writes docs/onnx.md from torch.onnx's tables: python tests/torch/golden/make_onnx_table.py"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from torch.onnx import _translations
from torch.onnx._decompositions import DECOMPOSITIONS
from torch.onnx._operators import TABLE as OPERATORS
from torch.onnx._rows import TABLE, Row

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx.md"
INTRODUCTION = """\
# torch and ONNX

Needs the package `onnx` (`conda install onnx` or `pip install onnx`); `onnxruntime` runs what was exported.

    program = torch.onnx.export(model.eval(), (images,), dynamic_shapes={"x": {0: "batch"}})
    program.save("model.onnx")
    outputs = program(images)                           # by onnxruntime

`export` runs the model once and records the operators it calls, with what Python's own control flow decided. Sizes are
followed: `x.shape[0] * 2` becomes arithmetic in the graph. With dynamic sizes the model runs a second time at other
ones, and whatever differs without being a size that was followed is an error with file and line, as is an `if` that
would turn out another way at a size that is allowed (`torch.export.Dim("time", max=512)` says which are), and an `if`,
`int()` or `.item()` on a tensor's values. Sizes 0 and 1 of a dynamic axis are not tried. In-place writes and views
become values. Complex numbers are pairs of real ones in the file, in a last dimension. There is no TorchScript and no
`torch.export` behind it: what Python runs is what is recorded.

Each function below has a test that compares onnxruntime with torch. A function that is missing:

    def lgamma(graph, x):                               # torch's arguments; tensors are the graph's values
        return graph.op("mydomain::Lgamma", x)          # attributes by name

    torch.onnx.export(model, args, custom_translation_table={torch.ops.aten.lgamma.default: lgamma})

The other way, `torch.onnx.load("model.onnx")` gives a module of the file's own weights, by their names: it runs, can be
trained, and saved with `torch.save`. A file is not trusted: what it claims is compared with what it has, weights are
read only from regular files of its own folder that have no other names (links of either kind are refused, as the
package `onnx` does), and a graph that asks for terabytes is stopped.

Two commands do the same. Loading a saved module runs code that its file names, so export only what you trust:

    torch-onnx-export module.pt model.onnx --input "x:float32[batch=2,3,224,224]"
    torch-from-onnx model.onnx module.pt

This page is written by `tests/torch/golden/make_onnx_table.py`; a test compares.
"""


def _functions_of(function: Any) -> list[Any]:
    """The function, and those of its module that it calls."""
    seen: list[Any] = []
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.append(current)
        names = current.__code__.co_names
        module = inspect.getmodule(current)
        for name in names:
            called = getattr(module, name, None)
            if inspect.isfunction(called) and called.__module__ == function.__module__:
                waiting.append(called)
        for cell in current.__closure__ or ():
            if inspect.isfunction(cell.cell_contents):
                waiting.append(cell.cell_contents)
    return seen


def operators_of(row: Row) -> list[str]:
    """ONNX operators that a translation may use, casts and rearrangements of sizes aside."""
    found: set[str] = set()
    for function in _functions_of(row.function):
        source = inspect.getsource(function)
        found.update(re.findall(r'"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)"', source))
        for cell in function.__closure__ or ():
            if isinstance(cell.cell_contents, str) and re.fullmatch(r"[A-Z]\w+", cell.cell_contents):
                found.add(cell.cell_contents)
    return sorted(found)


def _listed(names: list[str]) -> str:
    return textwrap.fill(" ".join(f"`{name}`" for name in names), 120, break_on_hyphens=False, break_long_words=False)


def text() -> str:
    """The page."""
    sections = []
    for family in _translations.__all__:
        rows = {name: row for name, row in TABLE.items() if row.family == family}
        lines = [f"\n## {family.capitalize()}\n\n| torch | ONNX | |\n|---|---|---|\n"]
        for name, row in sorted(rows.items()):
            note = f"from opset {row.opset} on" if row.opset > 17 else "random" if row.random else ""
            lines.append(f"| `{name}` | {' '.join(operators_of(row))} | {note} |\n")
        sections.append("".join(lines))
    parts = f"\n## By other functions of torch\n\n{_listed(sorted(DECOMPOSITIONS))}\n"
    names = sorted(f"{domain}::{name}" if domain else name for domain, name in OPERATORS)
    return INTRODUCTION + "".join(sections) + parts + f"\n## Operators that torch.onnx.load knows\n\n{_listed(names)}\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
