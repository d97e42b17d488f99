"""The command: what it writes, when it does not, and how it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from torchgen import element_types, reference
from torchgen.__main__ import main
from torchgen.python_api import description, python_functions

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from torchgen.model import Declarations


def test_writes_once(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--source-dir", str(source), "--output-dir", str(tmp_path), "--only", "core"]
    assert main(arguments) == 0
    first = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert first
    capsys.readouterr()
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"torchgen: 0 of {len(first)} files written\n"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == first


def test_prints_exactly_what_it_writes(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--source-dir", str(source), "--output-dir", str(tmp_path), "--print-outputs"]) == 0
    listed = capsys.readouterr().out.strip().split(";")
    assert sorted(listed) == sorted(str(path) for path in tmp_path.rglob("*") if path.is_file())


def test_a_changed_operator_changes_few_files(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / "source"
    (copy / "aten").mkdir(parents=True)
    (copy / "c10/core").mkdir(parents=True)
    (copy / element_types.HEADER).write_text((source / element_types.HEADER).read_text())
    for path in (source / "aten").glob("*.yaml"):
        (copy / "aten" / path.name).write_text(path.read_text())
    assert main(["--source-dir", str(copy), "--output-dir", str(tmp_path / "out")]) == 0
    before = {path: path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    derivatives = copy / "aten" / "derivatives.yaml"
    derivatives.write_text(
        derivatives.read_text().replace("self: grad.tril(diagonal)", "self: grad.tril(diagonal) * 1")
    )
    assert main(["--source-dir", str(copy), "--output-dir", str(tmp_path / "out")]) == 0
    changed = [path.name for path, text in before.items() if path.read_text() != text]
    assert len(changed) == 1
    assert changed[0].startswith("Nodes_")


def test_a_mistake_is_printed_as_compilers_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "aten").mkdir()
    (tmp_path / "aten" / "kernels.yaml").write_text("")
    (tmp_path / "aten" / "derivatives.yaml").write_text("")
    (tmp_path / "aten" / "docstrings.yaml").write_text("")
    (tmp_path / "aten" / "native_functions.yaml").write_text("- func: f(int a) -> Tensor\n  kind: naive\n")
    assert main(["--source-dir", str(tmp_path), "--output-dir", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == (
        "aten/native_functions.yaml:2: `naive` is no value of `kind`\n"
        "  hint: the values are structured, native, composite\n"
    )
    assert not (tmp_path / "out").exists()


def test_runs_as_a_module(source: Path, tmp_path: Path) -> None:
    """From the top of the checkout, as CONTRIBUTING says."""
    command = [sys.executable, "-m", "torchgen", "--source-dir", "src", "--reference", str(tmp_path / "operators.md")]
    subprocess.run(command, cwd=source.parent, env={**os.environ, "PYTHONPATH": "src"}, check=True)
    assert (tmp_path / "operators.md").read_text().startswith("# Operators\n")


def test_every_public_function_is_described(declarations: Declarations) -> None:
    """A row without an entry in docstrings.yaml; aliases and in-place forms take that of their function."""
    docstrings = {docstring.function: docstring for docstring in declarations.docstrings}
    shown = [
        item for item in python_functions(declarations) if any(o.is_function or o.is_method for o in item.overloads)
    ]
    functions = [item for item in shown if not item.name.startswith("_")]
    assert len(functions) > 280
    assert [item.name for item in functions if not description(item, docstrings)] == []


def test_the_reference_has_a_row_per_face(declarations: Declarations) -> None:
    page = reference.text(declarations)
    for face in declarations.faces:
        assert f"| `{face.schema}` |" in page
    assert "| `relu(Tensor self) -> Tensor` | f, m | self | relu (CPU, CUDA) |" in page


def test_the_reference_in_the_repository_is_current(source: Path, declarations: Declarations) -> None:
    path = source.parent / "docs" / "operators.md"
    assert path.read_text() == reference.text(declarations), (
        "run `python -m torchgen --source-dir src --reference docs/operators.md`"
    )
