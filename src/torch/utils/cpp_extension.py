"""C++ extensions of torch, built by setuptools.

setup(name="mine", ext_modules=[CppExtension("mine", ["mine.cpp"])], cmdclass={"build_ext": BuildExtension})
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setuptools import Extension  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE = Path(torch.__file__).resolve().parent
_LIBRARIES = ("c10", "torch_cpu", "torch", "torch_python")


def _folders(name: str) -> list[Path]:
    """Where headers ("include") or libraries ("lib") may be: in the package (plain build) or in the prefix (conda)."""
    in_package = _PACKAGE / "lib"
    return [in_package if name == "lib" else in_package / name, Path(sys.prefix) / name]


def include_paths(device_type: str = "cpu") -> list[str]:
    """The folders of torch's headers. Raises FileNotFoundError if they are not installed."""
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"include_paths: device_type must be 'cpu' or 'cuda', not {device_type!r}")
    for root in _folders("include"):
        if (root / "torch" / "torch.h").is_file():
            return [str(root)]
    raise FileNotFoundError(
        f"torch's headers (torch/torch.h) are in none of {[str(root) for root in _folders('include')]}: "
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
    found = [root for root in _folders("lib") if any(root.glob("libtorch*.so")) or any(root.glob("libc10.so"))]
    if not found:
        raise FileNotFoundError(
            f"libtorch is in none of {[str(root) for root in _folders('lib')]}: install the libtorch package"
        )
    return [str(path) for path in found]


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:
    """A setuptools Extension with torch's headers and libraries added."""
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", []), *include_paths()]
    folders = library_paths()
    kwargs["library_dirs"] = [*kwargs.get("library_dirs", []), *folders]
    kwargs["runtime_library_dirs"] = [*kwargs.get("runtime_library_dirs", []), *folders]
    kwargs["libraries"] = [*kwargs.get("libraries", []), *_LIBRARIES]
    kwargs["language"] = "c++"
    return Extension(name, list(sources), *args, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:
    """Not available: setuptools cannot call nvcc."""
    raise NotImplementedError("CUDAExtension is not supported: build CUDA code with CMake and find_package(Torch)")


class BuildExtension(build_ext):  # type: ignore[misc]
    """setuptools' build_ext with C++17 and the macros that torch's headers expect."""

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """PyTorch's way to pass options; only use_ninja=False, which is what happens anyway, is known."""
        if options.pop("use_ninja", False):
            raise NotImplementedError("BuildExtension(use_ninja=True) is not supported: setuptools compiles")
        if options:
            raise TypeError(f"BuildExtension.with_options() got unexpected options {sorted(options)}")
        return cls

    def build_extensions(self) -> None:
        abi = int(torch._C._cxx11_abi)
        for extension in self.extensions:
            given = extension.extra_compile_args or []
            flags = given.get("cxx", []) if isinstance(given, dict) else list(given)
            if not any(flag.startswith("-std=") for flag in flags):
                flags = [*flags, "-std=c++17"]
            extension.extra_compile_args = [
                *flags,
                f"-DTORCH_EXTENSION_NAME={extension.name.rpartition('.')[2]}",
                f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            ]
        super().build_extensions()
