"""What type checkers make of the package: torch's Python files, and the stubs that torchgen writes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchgen.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*sorted((ROOT / "examples").glob("*.py")), ROOT / "tests/torch/programs/train_classifier.py"]
MISTAKES = {  # a line, and the word that pyright finds wrong in it
    "torch.nn.Linaer(2, 3)": "Linaer",
    "torch.compil": "compil",
    'torch.add(torch.ones(1), "text")': "add",
    "torch.optim.Adam(1)": "params",
    "torch.save()": "obj",
    "a: int = torch.nn.functional.relu(torch.ones(1))": "Tensor",
    "b: int = torch.float32": "dtype",
    "c: int = torch.ones(2).max(0).indices": "Tensor",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """A folder with `torch` as it is installed, less what is compiled."""
    folder = tmp_path_factory.mktemp("site-packages")
    shutil.copytree(source / "torch", folder / "torch", ignore=shutil.ignore_patterns("csrc", "lib", "_C*"))
    assert main(["--source-dir", str(source), "--output-dir", str(folder), "--only", "python"]) == 0
    version = (source / "torch/csrc/version.py.in").read_text(encoding="utf-8")
    for name, value in {"@python_version@": "1.0", "@git_version_literal@": "None", "@is_debug@": "False"}.items():
        version = version.replace(name, value)
    (folder / "torch/version.py").write_text(version, encoding="utf-8")
    return folder


def run_pyright(package: Path, folder: Path, *programs: Path) -> list[dict[str, object]]:
    """What pyright reports about the programs, with `package` as the site-packages folder."""
    (folder / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(package)], "pythonVersion": "3.11", "pythonPlatform": "Linux"}), encoding="utf-8"
    )
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(folder), *map(str, programs)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    report = json.loads(answer.stdout)
    assert report["summary"]["filesAnalyzed"] == len(programs), answer.stdout + answer.stderr
    found: list[dict[str, object]] = report["generalDiagnostics"]
    return found


def test_programs_are_clean(package: Path, tmp_path: Path) -> None:
    assert run_pyright(package, tmp_path, *PROGRAMS) == []


def test_mistakes_are_found(package: Path, tmp_path: Path) -> None:
    """Each line is wrong, and is reported as itself: no attribute of torch is of an unknown type."""
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import torch", *MISTAKES]), encoding="utf-8")
    messages: dict[int, str] = {}
    for found in run_pyright(package, tmp_path, program):
        line = found["range"]["start"]["line"]  # type: ignore[index]
        messages[line] = messages.get(line, "") + str(found["message"])
    assert list(messages) == list(range(1, len(MISTAKES) + 1))
    for word, message in zip(MISTAKES.values(), messages.values(), strict=True):
        assert f'"{word}' in message, message
