"""torch-onnx-export and torch-from-onnx: a saved module becomes an ONNX file, and that a module again."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import torch
from torch import nn

pytest.importorskip("onnx", reason="onnx is not installed")

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.onnx._commands", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_there_and_back(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 2)).eval()
    torch.save(model, tmp_path / "module.pt")
    size = "x:float32[batch=2,3,8,8]"
    there = run(tmp_path, "export", "module.pt", "model.onnx", "--input", size, "--opset", "18", "--external-data")
    assert there.returncode == 0, there.stderr
    assert "input x: float32['batch', 3, 8, 8]" in there.stdout
    assert (tmp_path / "model.onnx.data").exists()
    back = run(tmp_path, "import", "model.onnx", "again.pt")
    assert back.returncode == 0, back.stderr
    again = torch.load(tmp_path / "again.pt", weights_only=False)
    x = torch.randn(5, 3, 8, 8)
    torch.testing.assert_close(again(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("export", "module.pt", "model.onnx", "--input", "float33[1]"), "expected [NAME:]DTYPE[SIZE,...]"),
        (("export", "module.pt", "model.onnx", "--input", "float32[1,a]"), "'a' is no size"),
        (("export", "missing.pt", "model.onnx", "--input", "float32[1]"), "missing.pt"),
        (("export", "tensor.pt", "model.onnx", "--input", "float32[1]"), "holds a Tensor, not a module"),
        (
            ("export", "module.pt", "model.onnx", "--input", "int64[1]", "--opset", "3"),
            "opset_version has to be 17 to 23",
        ),
        (("import", "tensor.pt", "module.pt"), "not an ONNX file"),
        (("import", "missing.onnx", "module.pt"), "cannot be read"),
    ],
)
def test_mistakes_are_said_in_a_line(words: tuple[str, ...], text: str, tmp_path: Path) -> None:
    torch.save(nn.ReLU(), tmp_path / "module.pt")
    torch.save(torch.ones(1), tmp_path / "tensor.pt")
    answer = run(tmp_path, *words)
    assert answer.returncode in (1, 2)
    assert text in answer.stderr
    assert "Traceback" not in answer.stderr
