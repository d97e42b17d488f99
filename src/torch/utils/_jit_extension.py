"""C++ extensions that a running program compiles, with Ninja, and loads: `load` and `load_inline`.

What was compiled is kept in $TORCH_EXTENSIONS_DIR (or the user's cache folder) under a hash of everything that it was
made from; Ninja looks at the headers. The folder can be removed at any time.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._extension_paths import (
    LIBRARIES,
    PYBIND11_MISSING,
    definitions,
    include_paths,
    library_paths,
    pybind11_folder,
    python_include_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_loaded: dict[Path, tuple[tuple[int, int], Any]] = {}
"""What this process has loaded: by path, the file's identity (mtime in ns, size) and the module."""
_versions: Counter[str] = Counter()
"""How many modules of a name it has made."""


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> Any:
    """Compiles C++ sources, unless it was done before, and loads them.

    Args:
        name: of the extension, and of the module: TORCH_EXTENSION_NAME in the sources.
        sources: paths of C++ files.
        build_directory: where to build, instead of a folder in the cache; it must exist.
        verbose: print where it is built, and what Ninja prints.
        is_python_module: False: the library is loaded for what its static objects do, and None is returned.
        is_standalone: a program is built instead of a library, and its path is returned.
        keep_intermediates: False: object files are removed.

    Raises:
        FileNotFoundError: a source, torch's headers or libraries are not there.
        NotImplementedError: CUDA is asked for.
        RuntimeError: Ninja is missing, or the compiler fails; what it said is in the message.
    """
    paths = [Path(source).resolve() for source in ([sources] if isinstance(sources, str) else sources)]
    if with_cuda or extra_cuda_cflags or any(path.suffix in (".cu", ".cuh") for path in paths):
        raise NotImplementedError("load: CUDA sources are not supported; build them with CMake and find_package(Torch)")
    if not name.isidentifier():
        raise ValueError(f"load: the name of an extension must be an identifier, not {name!r}")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"load: the source {path} of extension '{name}' does not exist")
    verify_ninja_availability()
    build = _Build(
        name,
        paths,
        cflags=[*_common_flags(name, is_standalone, extra_include_paths or ()), *(extra_cflags or ())],
        ldflags=[*_link_flags(is_standalone), *(extra_ldflags or ())],
    )
    folder = _folder(name, build_directory)
    with _locked(folder):
        suffix = "" if is_standalone else ".so"
        product = (folder if build_directory else folder / build.key) / f"{name}{suffix}"
        _ninja(build, folder, product, verbose)
        if not keep_intermediates:
            for path in build.objects:
                (folder / path).unlink(missing_ok=True)
        return str(product) if is_standalone else _load_library(name, product, is_python_module)


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
) -> Any:
    """The same from source text, which gets `#include <torch/extension.h>` put in front.

    Args:
        functions: names of C++ functions to bind, or a dict of them and their docstrings; None: the text has its own
            PYBIND11_MODULE.
        with_pytorch_error_handling: errors of torch become Python exceptions either way.
        use_pch: nothing is precompiled; it would only be quicker.
    """
    if cuda_sources:
        raise NotImplementedError("load_inline: cuda_sources are not supported; use CMake and find_package(Torch)")
    if pybind11_folder() is None:
        raise FileNotFoundError(PYBIND11_MISSING)
    texts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    lines = ["#include <torch/extension.h>", *texts]
    if functions is not None:
        lines += _bindings([functions] if isinstance(functions, str) else functions)
    if not name.isidentifier():
        raise ValueError(f"load_inline: the name of an extension must be an identifier, not {name!r}")
    text = "\n".join(lines) + "\n"
    folder = _folder(name, build_directory)
    source = folder / ("main.cpp" if build_directory else f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp")
    with _locked(folder):
        _write_if_changed(source, text)
    return load(
        name, [str(source)], extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, build_directory,
        verbose, with_cuda, is_python_module, keep_intermediates=keep_intermediates,
    )  # fmt: skip


def is_ninja_available() -> bool:
    """Whether there is a program `ninja`."""
    return _find_ninja() is not None


def verify_ninja_availability() -> None:
    """Raises RuntimeError if there is none."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions: run `conda install ninja` or `pip install ninja`")


# ---------------------------------------------------------------------------------------------------- what is built


@dataclass
class _Build:
    """One library or program: everything that decides what comes out, but for headers."""

    name: str
    sources: list[Path]
    cflags: list[str]
    ldflags: list[str]
    compiler: list[str] = field(default_factory=lambda: _compiler())

    @cached_property
    def objects(self) -> dict[str, Path]:
        """Names of the object files, which say what they are made from, with their sources."""
        version = subprocess.run([*self.compiler, "--version"], capture_output=True, text=True, check=True).stdout
        common = [torch.__version__, self.compiler, version, self.cflags]
        made_from = {path: _hash([common, str(path), path.read_bytes().hex()]) for path in self.sources}
        return {f"{path.stem}-{key}.o": path for path, key in made_from.items()}

    @property
    def key(self) -> str:
        return _hash([list(self.objects), self.ldflags])

    def manifest(self, product: Path) -> str:
        """build.ninja."""
        compiler, cflags, ldflags = (_quote(words) for words in (self.compiler, self.cflags, self.ldflags))
        return "\n".join([
            "ninja_required_version = 1.3",
            "rule compile",
            f"  command = {compiler} -MMD -MF $out.d {cflags} -c $in -o $out",
            "  description = compile $in",
            "  depfile = $out.d",
            "  deps = gcc",
            "rule link",
            f"  command = {compiler} $in {ldflags} -o $out",
            "  description = link $out",
            *(f"build {_escape(name)}: compile {_escape(str(path))}" for name, path in self.objects.items()),
            f"build {_escape(str(product))}: link {' '.join(_escape(name) for name in self.objects)}",
            "",
        ])  # fmt: skip


def _compiler() -> list[str]:
    """$CXX, which may be several words, or c++. Raises RuntimeError if there is none."""
    words = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    if shutil.which(words[0]) is None:
        raise RuntimeError(f"no C++ compiler: `{words[0]}` is not found; set CXX, or install cxx-compiler")
    return words


def _common_flags(name: str, is_standalone: bool, extra_include_paths: Sequence[str]) -> list[str]:
    folders = [*(str(Path(path).resolve()) for path in extra_include_paths), *include_paths()]
    if not is_standalone:
        folders.append(python_include_path())
    return ["-std=c++17", "-O2", "-fPIC", *definitions(name), *(f"-I{folder}" for folder in folders)]


def _link_flags(is_standalone: bool) -> list[str]:
    libraries = [library for library in LIBRARIES if not (is_standalone and library == "torch_python")]
    flags = [] if is_standalone else ["-shared"]
    for folder in library_paths():
        flags += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    return [*flags, *(f"-l{library}" for library in libraries)]


def _bindings(functions: Sequence[str] | Mapping[str, str]) -> list[str]:
    """PYBIND11_MODULE for functions that are declared above it."""
    documented = dict(functions) if hasattr(functions, "items") else dict.fromkeys(functions, "")
    for function in documented:
        if not re.fullmatch(r"(\w+::)*\w+", function):
            raise ValueError(f"load_inline: {function!r} in `functions` is no name of a C++ function")
    lines = [
        f'  module.def("{function.rpartition("::")[2]}", &{function}, {json.dumps(text or function)});'
        for function, text in documented.items()
    ]
    return ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {", *lines, "}"]


# ---------------------------------------------------------------------------------------------------- building it


def _folder(name: str, build_directory: str | None) -> Path:
    if build_directory is not None:
        folder = Path(build_directory).resolve()
        if not folder.is_dir():
            raise FileNotFoundError(f"build_directory {folder} of extension '{name}' does not exist")
        return folder
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or Path(cache) / "torch_extensions")
    folder = root / f"py{sys.version_info.major}{sys.version_info.minor}" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time builds here; the lock dies with its holder."""
    with (folder / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _ninja(build: _Build, folder: Path, product: Path, verbose: bool) -> None:
    product.parent.mkdir(exist_ok=True)
    _write_if_changed(folder / "build.ninja", build.manifest(product))
    program = _find_ninja()
    assert program is not None, "load() has looked for it"
    command = [program, "-C", str(folder), *(["-v"] if verbose else [])]
    if jobs := os.environ.get("MAX_JOBS"):
        command += ["-j", jobs]
    if verbose:
        print(f"Building extension {build.name} in {folder}")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if verbose:
        print(done.stdout, end="")
    if done.returncode != 0:
        raise RuntimeError(f"Error building extension '{build.name}':\n{done.stdout}")


def _load_library(name: str, path: Path, is_python_module: bool) -> Any:
    """The module in the library at `path`; None if it is no module.

    A library that was loaded stays loaded: if the file has changed since, a copy under another name is loaded. pybind11
    makes a module of one name once per process, so the next one of this name is in a package that does not exist.
    """
    identity = (path.stat().st_mtime_ns, path.stat().st_size)
    if path in _loaded and _loaded[path][0] == identity:
        return _loaded[path][1]
    file = path
    if path in _loaded:
        file = path.with_name(f"{name}_{identity[0]}.so")
        shutil.copy2(path, file)
    module: Any = None
    if is_python_module:
        full_name = f"v{_versions[name]}.{name}" if name in _versions else name
        spec = importlib.util.spec_from_file_location(full_name, file)
        assert spec is not None, "a library's name ends in .so"
        assert spec.loader is not None, "a library's name ends in .so"
        module = importlib.util.module_from_spec(spec)
        _versions[name] += 1
        spec.loader.exec_module(module)
    else:
        ctypes.CDLL(str(file))
    _loaded[path] = (identity, module)
    return module


def _find_ninja() -> str | None:
    beside_python = Path(sys.executable).parent / "ninja"  # of an environment that is not activated
    return shutil.which("ninja") or (str(beside_python) if beside_python.is_file() else None)


def _write_if_changed(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def _quote(words: Sequence[str]) -> str:
    """For the shell, in a Ninja variable."""
    return " ".join(shlex.quote(word) for word in words).replace("$", "$$")


def _escape(path: str) -> str:
    """A path in Ninja's `build` line."""
    return re.sub(r"([$ :])", r"$\1", path)
