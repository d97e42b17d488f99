"""What a build of torch needs from the machine: looked for before anything is compiled (setup.py)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CMAKE_MINIMUM = (3, 24)
SETUPTOOLS_MINIMUM = (70, 1)  # as pyproject.toml says: the first with a bdist_wheel of its own


@dataclass(frozen=True)
class Missing:
    """Something that the build needs and this machine lacks, and what to do about it."""

    what: str
    hint: str

    def __str__(self) -> str:
        return f"{self.what}\n  hint: {self.hint}"


class PreflightError(Exception):
    """The build cannot succeed here. The message lists everything that is missing, each with a hint."""

    def __init__(self, missing: list[Missing]) -> None:
        self.missing = missing
        super().__init__("torch cannot be built here:\n" + "\n".join(f"- {item}" for item in missing))


def find_missing(environment: Mapping[str, str]) -> Iterator[Missing]:
    """Everything that is missing, in the order in which a build would stumble over it. Takes under a second."""
    yield from find_missing_setuptools()
    path = environment.get("PATH")
    cmake = shutil.which("cmake", path=path)
    if cmake is None:
        yield Missing("cmake is not on PATH", "pip install cmake, or your system's package `cmake`")
    elif (version := cmake_version(cmake)) < CMAKE_MINIMUM:
        wanted, found = (".".join(map(str, numbers)) for numbers in (CMAKE_MINIMUM, version))
        yield Missing(f"cmake {found} is too old: {wanted} or later is needed", "pip install --upgrade cmake")
    if shutil.which("ninja", path=path) is None and shutil.which("make", path=path) is None:
        yield Missing("neither ninja nor make is on PATH", "pip install ninja")
    try:
        import yaml  # noqa: F401 - the generator imports it
    except ImportError:
        yield Missing(f"{sys.executable} has no PyYAML, which the code generator reads with", "pip install PyYAML")
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        yield Missing(f"the headers of {sys.executable} are not installed", "your system's package `python3-dev`")
    compiler = shlex.split(environment.get("CXX", "c++"))
    program = shutil.which(compiler[0], path=path)
    if program is None:
        yield Missing(f"the C++ compiler `{compiler[0]}` is not on PATH", "your system's package `g++`, or set CXX")
        return
    compiler[0] = program
    folders = header_folders(environment)
    blas = {"MKL": ["mkl.h"], "OpenBLAS": ["cblas.h"], "Generic": ["cblas.h"]}.get(
        environment.get("TORCH_BLAS", ""), ["mkl.h", "cblas.h"]
    )
    found = next((name for name in blas if has_header(compiler, name, folders)), None)
    if found is None:
        yield Missing(
            f"no BLAS: none of {', '.join(blas)} is found", "`libopenblas-dev` or `mkl-devel`; set CMAKE_PREFIX_PATH"
        )
    elif found != "mkl.h" and not has_header(compiler, "unsupported/Eigen/FFT", folders):
        # Its Fourier transforms stand in for MKL's.
        yield Missing("Eigen (unsupported/Eigen/FFT) is not found", "`libeigen3-dev` or `eigen`; set CMAKE_PREFIX_PATH")
    if not has_header(compiler, "hwy/highway.h", folders):
        yield Missing("Google Highway (hwy/highway.h) is not found", "`libhwy-dev` or `libhwy`; set CMAKE_PREFIX_PATH")


def header_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where headers are looked for before the compiler's own folders."""
    given = [Path(entry) / "include" for entry in environment.get("CMAKE_PREFIX_PATH", "").split(os.pathsep) if entry]
    return [*given, Path(sys.prefix) / "include"]


def has_gloo(environment: Mapping[str, str]) -> bool:
    """Whether there is gloo, which libtorch_distributed is built with; without it torch is complete otherwise."""
    compiler = shlex.split(environment.get("CXX", "c++"))
    program = shutil.which(compiler[0], path=environment.get("PATH"))
    return program is not None and has_header([program], "gloo/context.h", header_folders(environment))


def find_missing_setuptools() -> Iterator[Missing]:
    """Nothing if this Python has setuptools and it is recent enough; setup.py cannot start without it."""
    wanted = ".".join(map(str, SETUPTOOLS_MINIMUM))
    try:
        import setuptools
    except ImportError:
        yield Missing(f"{sys.executable} has no setuptools", f"{sys.executable} -m pip install 'setuptools>={wanted}'")
        return
    if tuple(map(int, re.findall(r"\d+", setuptools.__version__)[:2])) < SETUPTOOLS_MINIMUM:
        yield Missing(
            f"setuptools {setuptools.__version__} is too old: {wanted} or later is needed",
            f"{sys.executable} -m pip install --upgrade setuptools",
        )


def cmake_version(cmake: str) -> tuple[int, ...]:
    """(3, 24, 1), or (0,) when it does not say."""
    try:
        answer = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return (0,)
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", answer)
    return tuple(int(part) for part in match.groups()) if match else (0,)


def has_header(compiler: list[str], name: str, folders: list[Path]) -> bool:
    """Whether the compiler finds `#include <name>`, by itself, in one of `folders` or one folder below (openblas/)."""
    if any((folder / name).is_file() or any(folder.glob(f"*/{name}")) for folder in folders):
        return True
    for prefix in ("", "openblas/", "mkl/", "eigen3/"):
        source = f"#if !__has_include(<{prefix}{name}>)\n#error not found\n#endif\n"
        command = [*compiler, "-x", "c++", "-E", "-"]
        answer = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return True
    return False


def preflight(environment: Mapping[str, str]) -> None:
    """Raises PreflightError unless everything is there."""
    missing = list(find_missing(environment))
    if missing:
        raise PreflightError(missing)
