"""The type stubs say what torch._C holds, and mypy accepts them and programs that use them."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torch

STUBS = Path(torch.__file__).parent / "_C"

PROGRAM = """
import torch

x = torch.ones(2, 3)
total: torch.Tensor = x.sum(0, keepdim=True)
best = torch.max(x, 1)
reveal_type(best.indices)
reveal_type(x.size())
reveal_type(x.size(0))
x.view(3, 2).view([6])
torch.add(x, "text")
"""


MODULES = ("_VariableFunctions", "_nn", "_linalg", "_fft", "_special")


def stub_names(text: str, indent: str) -> set[str]:
    return set(re.findall(rf"^{indent}(?:def |class |)(\w+)(?=[\(:])", text, re.MULTILINE))


def test_every_name_has_a_stub() -> None:
    text = (STUBS / "__init__.pyi").read_text(encoding="utf-8")
    missing = {name for name in dir(torch._C) if not name.startswith("__")} - stub_names(text, "")
    # torch._functorch is a module written in Python, which puts itself there when it is imported.
    assert missing - {*MODULES, "_TensorMemory", "_dtypes", "_functorch"} == set()
    body = text[text.index("class TensorBase") :]
    methods = {name for name in vars(torch._C.TensorBase) if not name.startswith("__")}
    assert methods - stub_names(body, "    ") - {"_grad"} == set()


@pytest.mark.parametrize("module", MODULES)
def test_every_function_has_a_stub(module: str) -> None:
    text = (STUBS / f"{module}.pyi").read_text(encoding="utf-8")
    home = getattr(torch._C, module)
    # What modules written in Python put there when they are imported has its types where it is written.
    names = {name for name in dir(home) if not name.startswith("__") and not inspect.isfunction(getattr(home, name))}
    assert names == stub_names(text, "") - {"_bool", "_float", "_int"}


def test_mypy_reads_them(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", str(program)]
    environment = {"MYPYPATH": str(STUBS.parent.parent), "PATH": ""}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    lines = [line.split(": ", 1)[1] for line in answer.stdout.splitlines() if line.startswith(str(program.name))]
    assert any('Revealed type is "torch._tensor.Tensor"' in line for line in lines), answer.stdout + answer.stderr
    assert any('Revealed type is "torch._C.Size"' in line for line in lines), answer.stdout
    assert any('Revealed type is "' in line and line.endswith('int"') for line in lines), answer.stdout
    errors = [line for line in lines if line.startswith("error")]
    assert len(errors) == 1, answer.stdout
    assert 'incompatible type "str"' in errors[0]


def test_checkers_read_the_names_that_are_imported_late() -> None:
    """torch/__init__.py spells for type checkers what `_bindings` holds in tables."""
    tree = ast.parse(Path(torch.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname: node.module for node in imports for alias in node.names if alias.name == alias.asname}
    modules = set(torch._bindings.public_submodules()) - {"version"}  # which `import torch` loads
    late = dict.fromkeys(modules, "torch") | torch._bindings.LAZY_ATTRIBUTES
    storages = {storage_class.__name__ for storage_class in torch.storage.STORAGE_CLASSES}
    assert names == {name: module for name, module in late.items() if name not in storages}
    assert storages < late.keys()


def test_every_element_type_has_a_stub() -> None:
    text = (STUBS / "_dtypes.pyi").read_text(encoding="utf-8")
    dtypes = {name for name in vars(torch._C._dtypes) if not name.startswith("__")}
    storages = {storage_class.__name__ for storage_class in torch.storage.STORAGE_CLASSES}
    assert stub_names(text, "") == dtypes | storages
