"""What torch.onnx is without the package onnx: importable, documented, and clear about what it lacks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import torch
from golden import make_onnx_table
from torch.onnx import errors

WITHOUT = "import sys; sys.modules['onnx'] = None; import torch\n"


def test_the_page_is_what_the_tables_say() -> None:
    assert make_onnx_table.PAGE.read_text(encoding="utf-8") == make_onnx_table.text()


@pytest.mark.parametrize("call", ["export(torch.nn.ReLU(), (torch.ones(1),), 'model.onnx')", "load(torch.__file__)"])
def test_a_missing_package_is_named_with_how_to_get_it(call: str) -> None:
    program = WITHOUT + (
        f"try:\n    torch.onnx.{call}\nexcept torch.onnx.errors.MissingPackageError as error:\n"
        "    assert isinstance(error, ImportError) and error.name == 'onnx'; print(error)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "`conda install onnx` or `pip install onnx`" in run.stdout


def test_importing_torch_imports_none_of_it() -> None:
    program = "import sys, torch; print([name for name in sys.modules if name.startswith(('onnx', 'torch.onnx.'))])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_errors_are_of_one_family() -> None:
    family = [
        errors.DataDependentError,
        errors.DynamicShapeError,
        errors.UnsupportedOperatorError,
        errors.SymbolicValueError,
    ]
    assert all(issubclass(each, torch.onnx.OnnxExporterError) for each in family)
    assert issubclass(torch.onnx.OnnxExporterError, RuntimeError)
    assert issubclass(errors.OnnxExporterWarning, UserWarning)
    assert not torch.onnx.is_in_onnx_export()


@pytest.mark.parametrize("name", ["JitScalarType", "ExportableModule"])
def test_names_that_do_nothing_here_say_so(name: str) -> None:
    refused: Any = getattr(torch.onnx, name)
    with pytest.raises(NotImplementedError):
        refused()
