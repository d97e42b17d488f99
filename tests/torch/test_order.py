"""Which file of the package imports which: none imports itself in the end, not even for type checkers only."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import torch

PACKAGE = Path(torch.__file__).parent


def find_modules() -> dict[str, Path]:
    """Every module below torch, and its file. `torch` itself is none: it shows what stands in them; all import it."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ("torch", *path.relative_to(PACKAGE).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    del modules["torch"]
    return modules


def find_imports(module: str, source: str, modules: set[str]) -> set[str]:
    """Those of `modules` that the file of `module` imports, at the top or inside."""
    named = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            assert node.module is not None
            inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            named |= {full if full in modules else node.module for full in inner.values()}
    return named & modules - {module}


def test_no_module_imports_itself_in_the_end() -> None:
    modules = find_modules()
    assert {"torch.nn.modules.module", "torch.utils.data.dataloader"} <= set(modules)
    graph = {name: find_imports(name, path.read_text(encoding="utf-8"), set(modules)) for name, path in modules.items()}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_circles_are_found() -> None:
    text = """
from typing import TYPE_CHECKING
import torch.b
if TYPE_CHECKING:
    from torch import c
def late():
    from torch.d import name
"""
    imported = find_imports("torch.a", text, {"torch.a", "torch.b", "torch.c", "torch.d"})
    assert imported == {"torch.b", "torch.c", "torch.d"}
    with pytest.raises(CycleError):
        TopologicalSorter({"torch.a": imported, "torch.d": {"torch.a"}}).prepare()
