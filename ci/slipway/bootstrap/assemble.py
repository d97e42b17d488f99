"""Makes one package from its description and its downloads: stage, finish, set run paths, write."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping  # noqa: TC003 - what the cache keeps is converted to these types
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile

from slipway.base import errors
from slipway.base.cache_room import mark_used
from slipway.base.files import hash_file, move_folder, says_disk_full
from slipway.base.json_file import read_json
from slipway.base.proc import own_program
from slipway.base.schema import convert
from slipway.bootstrap import debian_layout
from slipway.bootstrap.description import (
    PLACEHOLDER,
    FinishingStep,
    PackageDescription,
    RunPath,
    SourceDescription,
    Wrapper,
)
from slipway.bootstrap.mapping import Glob, Template
from slipway.bootstrap.sources import SourceEntry, Tree, entry_points, open_deb, place, wheel_entries
from slipway.channel.package import unpack_files
from slipway.channel.package_writer import TIMESTAMP, PackageRecord, to_json, write_package

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from slipway.base.proc import Processes
    from slipway.bootstrap.cache import Cache
    from slipway.bootstrap.interpreter import Interpreter

_LEVEL = 7
_LICENSE_GLOBS = tuple(
    Glob.parse(f"site/*.dist-info/{name}")
    for name in ("licenses/**", "LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "AUTHORS*")
)


@dataclass(frozen=True)
class ResolvedSource:
    """A source of a description, and what it is exactly: its words for people, its digest, its file when downloaded."""

    description: SourceDescription
    label: str
    sha256: str
    path: Path | None


@dataclass(frozen=True)
class AssembledPackage:
    """A finished package in the cache. `sources` names what went in; `size` is in bytes."""

    path: Path
    name: str
    version: str
    build: str
    subdir: str
    size: int
    sha256: str
    md5: str
    sources: tuple[str, ...]
    index: Mapping[str, Any]


@dataclass(frozen=True)
class _Record:
    """What the cache keeps beside a package."""

    file: str
    size: int
    sha256: str
    md5: str
    sources: tuple[str, ...]
    index: Mapping[str, Any]


def package_key(
    description: PackageDescription,
    sources: tuple[tuple[str, str], ...],
    tools: Mapping[str, str],
    code: str,
) -> str:
    """The digest over everything a package is made from.

    Args:
        sources: label and digest of each source.
        tools: the keys of the packages that its steps use.
        code: what `slipway.bootstrap.code.code_digest` says.
    """
    facts = [
        code,
        description.fingerprint,
        description.python,
        description.platform.subdir,
        [asdict(text) for text in description.texts],
        description.step_files,
        sources,
        sorted(tools.items()),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def load_assembled(cache: Cache, key: str) -> AssembledPackage | None:
    """The finished package for `key`, if the cache has it whole."""
    folder = cache.packages / key
    facts = convert(read_json(folder / "record.json"), _Record)
    if facts is None:
        return None
    path = folder / facts.file
    if not path.is_file() or path.stat().st_size != facts.size or hash_file(path) != facts.sha256:
        return None  # cut off, or damaged since: it is made again
    names = (facts.index.get(name) for name in ("name", "version", "build", "subdir"))
    if not all(isinstance(name, str) for name in names):
        return None
    mark_used(folder)
    return AssembledPackage(
        path=path,
        name=facts.index["name"],
        version=facts.index["version"],
        build=facts.index["build"],
        subdir=facts.index["subdir"],
        size=facts.size,
        sha256=facts.sha256,
        md5=facts.md5,
        sources=facts.sources,
        index=facts.index,
    )


def assemble(
    description: PackageDescription,
    sources: tuple[ResolvedSource, ...],
    key: str,
    *,
    cache: Cache,
    tools: tuple[AssembledPackage, ...],
    interpreter: Interpreter | None,
    processes: Processes,
) -> AssembledPackage:
    """Make the package and put it into the cache under `key`.

    Raises:
        ChannelError: a source is not what the description expects; `where` names the data file.
    """
    with cache.scratch() as scratch, _name_origin(description):
        tree = Tree(scratch / "tree")
        info: dict[str, bytes] = {}
        scripts: list[str] = []
        for source in sources:
            scripts += _stage(source, description, tree, info, interpreter, scratch)
        for text in description.texts:
            tree.put(text.path, text.content.encode(), 0o755 if text.executable else 0o644)
        _make_links(description, tree)
        for step in description.steps:
            _finish(step, description.step_files, tree, tools, interpreter, processes, scratch)
        if description.python and any(source.wheel and source.install for source in description.sources):
            _compile_python(description.python, tree, interpreter, processes)
        for wrapper in description.wrappers:
            _wrap(wrapper, tree)
        for run_path in description.run_paths:
            _set_run_paths(run_path, tree, processes)
        if any(source.deb and source.install for source in description.sources):
            found = debian_layout.run_paths(tree.paths(), lambda path: _is_dynamic(tree.root / path))
            for value, elves in found:
                _run_patchelf(value, elves, tree, processes)
        record = _record(description, key)
        info |= _metadata(description, sources, scripts)
        result = scratch / "result"
        result.mkdir()
        path = result / record.file_name
        write_package(tree.root, record, path, placeholder=PLACEHOLDER, info=info, level=_LEVEL)
        facts = _Record(
            file=record.file_name,
            size=path.stat().st_size,
            sha256=hash_file(path),
            md5=hash_file(path, "md5"),
            sources=tuple(source.label for source in sources),
            index=record.index(),
        )
        (result / "record.json").write_bytes(to_json(asdict(facts)))
        shutil.rmtree(cache.packages / key, ignore_errors=True)
        move_folder(result, cache.packages / key)
    finished = load_assembled(cache, key)
    if finished is None:
        raise errors.IntegrityError("the package was changed while it was stored", where=str(cache.packages / key))
    return finished


@contextmanager
def _name_origin(description: PackageDescription) -> Iterator[None]:
    try:
        yield
    except errors.ChannelError as error:
        if error.where is None:
            error.where = str(description.origin)
        raise


def _record(description: PackageDescription, key: str) -> PackageRecord:
    prefix = "py" if description.noarch_python else description.build_prefix
    return PackageRecord(
        name=description.name,
        version=description.version,
        build=f"{prefix}h{key[:7]}_{description.build_number}{description.build_suffix}",
        build_number=description.build_number,
        subdir=description.subdir,
        depends=description.depends,
        constrains=description.constrains,
        license=description.license,
        noarch_python=description.noarch_python,
    )


def _stage(
    source: ResolvedSource,
    description: PackageDescription,
    tree: Tree,
    info: dict[str, bytes],
    interpreter: Interpreter | None,
    scratch: Path,
) -> list[str]:
    """Place one source's files; returns the entry points of an installed wheel."""
    wanted = source.description
    transform: Callable[[str, bytes], bytes] | None = None
    found: list[str] = []
    with ExitStack() as stack:
        if wanted.kind == "interpreter":
            if interpreter is None:
                raise errors.ChannelError("an `interpreter` source needs `per: python`")
            python = interpreter
            entries = list(python.entries())
            transform = lambda path, content: python.relocate(path, content, PLACEHOLDER)  # noqa: E731
        elif source.path is None:
            raise errors.ChannelError(f"`{wanted.name}` was not downloaded")
        elif wanted.kind == "deb":
            entries = list(stack.enter_context(open_deb(source.path, scratch)))
        else:
            entries = list(wheel_entries(stack.enter_context(zipfile.ZipFile(source.path))))
        if wanted.install and wanted.kind == "wheel":
            found = _install_wheel(entries, description, tree)
        elif wanted.install and not debian_layout.lay_out(entries, tree, wanted.excluded):
            raise errors.ChannelError(f"nothing of {wanted.name} goes into a prefix")
        place(iter(entries), wanted.files, tree, link_root=wanted.link_root, transform=transform)
        _keep_licenses(entries, wanted, info)
    return found


def _install_wheel(entries: list[SourceEntry], description: PackageDescription, tree: Tree) -> list[str]:
    if description.noarch_python:
        site, scripts_folder = "site-packages", "python-scripts"
    elif description.python:
        site, scripts_folder = f"lib/python{description.python}/site-packages", "bin"
    else:
        raise errors.ChannelError("a wheel is installed `per: python` or as `noarch_python: true`")
    found: list[str] = []
    folders = {"site": site, "scripts": scripts_folder, "headers": "include", "data": ""}
    for entry in entries:
        scheme, _, path = entry.path.partition("/")
        if fnmatch.fnmatch(path, "*.dist-info/RECORD"):
            continue  # its hashes are those of the wheel; conda keeps its own list
        content = entry.read()
        if fnmatch.fnmatch(path, "*.dist-info/entry_points.txt"):
            found += entry_points(content.decode())
        if fnmatch.fnmatch(path, "*.dist-info/WHEEL"):
            tree.put(f"{site}/{path.partition('/')[0]}/INSTALLER", b"conda\n", 0o644)
        program = scheme == "scripts"
        if program and content.startswith(b"#!python"):
            content = f"#!{PLACEHOLDER}/bin/python".encode() + content.removeprefix(b"#!python")
        tree.put(f"{folders[scheme]}/{path}".lstrip("/"), content, 0o755 if program or entry.executable else 0o644)
    if not description.noarch_python:
        for point in found:
            _write_entry_point(point, tree)
    return found


def _write_entry_point(point: str, tree: Tree) -> None:
    name, _, target = point.partition(" = ")
    module, _, function = target.partition(":")
    lines = [
        f"#!{PLACEHOLDER}/bin/python",
        "import sys",
        f"from {module} import {function.partition('.')[0]}",
        f"sys.exit({function}())",
    ]
    tree.put(f"bin/{name}", ("\n".join(lines) + "\n").encode(), 0o755)


def _keep_licenses(entries: list[SourceEntry], source: SourceDescription, info: dict[str, bytes]) -> None:
    globs = source.licenses
    if source.install and not globs:
        # Packages of one source share their copyright: a link into a package that is a source, too.
        if source.deb and any(entry.path == f"usr/share/doc/{source.name}" for entry in entries):
            return
        own = Glob.parse(f"usr/share/doc/{source.name}/copyright")
        globs = (own,) if source.deb else _LICENSE_GLOBS
    taken = 0
    for entry in entries:
        if any(glob.matches(entry.path) for glob in globs):
            parts = entry.path.split("/")
            start = next((i for i, part in enumerate(parts) if part.endswith(".dist-info")), len(parts) - 2)
            info[f"licenses/{source.name}/{'/'.join(parts[start + 1 :])}"] = entry.read()
            taken += 1
    if globs and not taken:
        raise errors.ChannelError(f"no licence file in {source.name} matches {', '.join(g.text for g in globs)}")


def _make_links(description: PackageDescription, tree: Tree) -> None:
    paths = tree.paths()
    for link in description.links:
        if link.each is None:
            tree.link(link.path, link.target)
            continue
        at, to = Template.parse(link.path, link.each), Template.parse(link.target, link.each)
        made = 0
        for path in paths:
            captures = link.each.captures(path)
            if captures is not None:
                tree.link(at.fill(captures), to.fill(captures))
                made += 1
        if not made:
            raise errors.ChannelError(f"no file of the package matches `{link.each.text}`")


def _finish(
    step: FinishingStep,
    contents: Mapping[str, str],
    tree: Tree,
    tools: tuple[AssembledPackage, ...],
    interpreter: Interpreter | None,
    processes: Processes,
    scratch: Path,
) -> None:
    prefix = scratch / "tools"
    files = scratch / "files"
    for folder in (prefix, files):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for tool in tools:
        if tool.name in step.tools:
            unpack_files(tool.path, prefix)
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
            raise errors.DiskFullError("the disk filled up while a package was finished", detail=outcome.tail)
        raise errors.ChannelError("a finishing step failed", detail=outcome.tail)


def _compile_python(python: str, tree: Tree, interpreter: Interpreter | None, processes: Processes) -> None:
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


def _wrap(wrapper: Wrapper, tree: Tree) -> None:
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


def _set_run_paths(run_path: RunPath, tree: Tree, processes: Processes) -> None:
    for glob in run_path.files:
        elves = [path for path in tree.paths() if glob.matches(path) and _is_elf(tree.root / path)]
        if not elves:
            raise errors.ChannelError(f"no program or library of the package matches `{glob.text}`")
        _run_patchelf(run_path.value, elves, tree, processes)


def _run_patchelf(value: str, elves: Collection[str], tree: Tree, processes: Processes) -> None:
    command = [str(own_program("patchelf")), "--force-rpath", "--set-rpath", value, *elves]
    outcome = processes.run(command, cwd=tree.root, what="setting run paths")
    if outcome.status != 0:
        raise errors.ChannelError(f"patchelf cannot set the run path of {', '.join(elves)}", detail=outcome.tail)


def _is_elf(path: Path) -> bool:
    if path.is_symlink():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _is_dynamic(path: Path) -> bool:
    """Whether it is a program or library that is linked when it starts: not an object file, nor a static program."""
    if not _is_elf(path):
        return False
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        return any(segment.header.p_type == "PT_DYNAMIC" for segment in elf.iter_segments())


def _metadata(
    description: PackageDescription, sources: tuple[ResolvedSource, ...], scripts: list[str]
) -> dict[str, bytes]:
    exports = {key: list(values) for key, values in asdict(description.run_exports).items() if values}
    made_from = [{"name": source.label, "sha256": source.sha256} for source in sources]
    about = {
        "home": description.home,
        "license": description.license,
        "summary": description.summary,
        "extra": {"made_by": "slipway bootstrap", "sources": made_from},
    }
    info = {
        "about.json": to_json(about),
        f"recipe/{description.origin.name}": description.origin.read_bytes(),
    }
    if exports:
        info["run_exports.json"] = to_json(exports)
    if description.noarch_python:
        noarch = {"type": "python", "entry_points": scripts}
        info["link.json"] = to_json({"noarch": noarch, "package_metadata_version": 1})
    return info
