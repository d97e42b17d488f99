"""C++ extensions of torch: built by setuptools when a package is built, or by Ninja when a program runs.

setup(name="mine", ext_modules=[CppExtension("mine", ["mine.cpp"])], cmdclass={"build_ext": BuildExtension})

mine = load(name="mine", sources=["mine.cpp"])
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from setuptools import Extension  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

from torch.utils._extension_paths import (
    LIBRARIES,
    PYBIND11_MISSING,
    definitions,
    include_paths,
    library_paths,
    pybind11_folder,
)
from torch.utils._jit_extension import is_ninja_available, load, load_inline, verify_ninja_availability

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Extension:
    """A setuptools Extension with torch's headers and libraries added."""
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", []), *include_paths()]
    folders = library_paths()
    kwargs["library_dirs"] = [*kwargs.get("library_dirs", []), *folders]
    kwargs["runtime_library_dirs"] = [*kwargs.get("runtime_library_dirs", []), *folders]
    kwargs["libraries"] = [*kwargs.get("libraries", []), *LIBRARIES]
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
        if pybind11_folder() is None:  # an extension that includes torch/torch.h alone needs none
            print(f"note: {PYBIND11_MISSING}", file=sys.stderr)
        for extension in self.extensions:
            given = extension.extra_compile_args or []
            flags = given.get("cxx", []) if isinstance(given, dict) else list(given)
            if not any(flag.startswith("-std=") for flag in flags):
                flags = [*flags, "-std=c++17"]
            extension.extra_compile_args = [*flags, *definitions(extension.name)]
        super().build_extensions()
