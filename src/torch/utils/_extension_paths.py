"""Where the headers and libraries that extensions in C++ need are: torch's, pybind11's, Python's."""

from __future__ import annotations

import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

_PACKAGE = Path(torch.__file__).resolve().parent
LIBRARIES = ("c10", "torch_cpu", "torch", "torch_python")
"""What an extension is linked with."""

PYBIND11_MISSING = (
    "torch/extension.h needs pybind11's headers, and they are neither in the prefix's include folder nor in an "
    "installed Python package: run `conda install pybind11` or `pip install pybind11`"
)


def folders(name: str) -> list[Path]:
    """Where headers ("include") or libraries ("lib") may be: in the package (plain build) or in the prefix (conda)."""
    in_package = _PACKAGE / "lib"
    return [in_package if name == "lib" else in_package / name, Path(sys.prefix) / name]


def pybind11_folder() -> Path | None:
    """The folder that holds pybind11/pybind11.h: the prefix's, or the one in the Python package pybind11."""
    candidates = folders("include")
    spec = find_spec("pybind11")
    if spec is not None and spec.origin is not None:
        candidates.append(Path(spec.origin).parent / "include")
    return next((folder for folder in candidates if (folder / "pybind11" / "pybind11.h").is_file()), None)


def include_paths(device_type: str = "cpu") -> list[str]:
    """The folders of torch's headers and, where pybind11 is installed, of its headers.

    Raises FileNotFoundError if torch's are not installed.
    """
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"include_paths: device_type must be 'cpu' or 'cuda', not {device_type!r}")
    for root in folders("include"):
        if (root / "torch" / "torch.h").is_file():
            found = [root, pybind11_folder()]
            return list(dict.fromkeys(str(path) for path in found if path is not None))
    raise FileNotFoundError(
        f"torch's headers (torch/torch.h) are in none of {[str(root) for root in folders('include')]}: "
        "install the libtorch package"
    )


def library_paths(
    device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: Any = None
) -> list[str]:
    """The folders of libtorch and libtorch_python. Raises FileNotFoundError if they are not installed."""
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"library_paths: device_type must be 'cpu' or 'cuda', not {device_type!r}")
    if cross_target_platform is not None:
        raise NotImplementedError("library_paths(cross_target_platform=...) is not supported")
    found = [root for root in folders("lib") if any(root.glob("libtorch*.so")) or any(root.glob("libc10.so"))]
    if not found:
        raise FileNotFoundError(
            f"libtorch is in none of {[str(root) for root in folders('lib')]}: install the libtorch package"
        )
    return [str(path) for path in found]


def python_include_path() -> str:
    """The folder of Python.h."""
    return sysconfig.get_paths()["include"]


def definitions(name: str) -> list[str]:
    """The compiler's options that every source of the extension `name` gets."""
    module = name.rpartition(".")[2]
    return [f"-DTORCH_EXTENSION_NAME={module}", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._cxx11_abi)}"]
