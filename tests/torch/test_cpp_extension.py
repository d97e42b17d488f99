"""torch.utils.cpp_extension: where things are, and what the arguments become."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import torch

pytest.importorskip("setuptools", reason="extensions are built with setuptools")

from torch.utils import cpp_extension


def _installed() -> bool:
    try:
        cpp_extension.include_paths()
    except FileNotFoundError:
        return False
    return True


def test_paths_exist_or_say_what_is_missing() -> None:
    if not _installed():
        with pytest.raises(FileNotFoundError, match="install the libtorch package"):
            cpp_extension.include_paths()
        return
    torch_headers, *others = cpp_extension.include_paths()
    assert (Path(torch_headers) / "torch" / "torch.h").is_file()
    assert all((Path(path) / "pybind11" / "pybind11.h").is_file() for path in others)
    assert any(list(Path(path).glob("libtorch.so")) for path in cpp_extension.library_paths())


def test_extension_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp_extension, "include_paths", lambda: ["/prefix/include"])
    monkeypatch.setattr(cpp_extension, "library_paths", lambda: ["/prefix/lib"])
    extension = cpp_extension.CppExtension("mine._C", ["a.cpp"], include_dirs=["own"], extra_compile_args=["-O3"])
    assert extension.include_dirs == ["own", "/prefix/include"]
    assert extension.library_dirs == extension.runtime_library_dirs == ["/prefix/lib"]
    assert extension.libraries == ["c10", "torch_cpu", "torch", "torch_python"]
    assert extension.language == "c++"


def test_options() -> None:
    with pytest.raises(NotImplementedError, match="find_package"):
        cpp_extension.CUDAExtension("x", ["x.cu"])
    assert cpp_extension.BuildExtension.with_options(use_ninja=False) is cpp_extension.BuildExtension
    with pytest.raises(NotImplementedError, match="setuptools compiles"):
        cpp_extension.BuildExtension.with_options(use_ninja=True)
    with pytest.raises(ValueError, match="device_type"):
        cpp_extension.library_paths("tpu")
    assert isinstance(torch._C._cxx11_abi, bool)


SOURCE = """
#include <Python.h>
#include <torch/torch.h>

static PyObject* sum_of_ones(PyObject*, PyObject* count) {
  return PyFloat_FromDouble(at::ones({PyLong_AsLong(count)}).sum().item<double>());
}
static PyMethodDef functions[] = {{"sum_of_ones", sum_of_ones, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module{PyModuleDef_HEAD_INIT, "TORCH_EXTENSION_NAME", nullptr, -1, functions};
#define INIT_OF(name) PyInit_##name
#define INIT(name) INIT_OF(name)
PyMODINIT_FUNC INIT(TORCH_EXTENSION_NAME)() { return PyModule_Create(&module); }
"""
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name="mine", ext_modules=[CppExtension("mine", ["mine.cpp"])], cmdclass={"build_ext": BuildExtension})
"""


@pytest.mark.integration
@pytest.mark.skipif(not _installed(), reason="torch's headers are not installed")
def test_an_extension_is_built_and_runs(tmp_path: Path) -> None:
    (tmp_path / "mine.cpp").write_text(SOURCE)
    (tmp_path / "setup.py").write_text(SETUP)
    for arguments in (["setup.py", "build_ext", "--inplace"], ["-c", "import torch, mine; print(mine.sum_of_ones(7))"]):
        result = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == "7.0"
