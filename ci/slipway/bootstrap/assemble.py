"""Makes one package from its description and its downloads: stage, finish, set run paths, write."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping  # noqa: TC003 - what the cache keeps is converted to these types
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from slipway.base import errors
from slipway.base.cache_room import mark_used
from slipway.base.files import hash_file, move_folder
from slipway.base.json_file import read_json
from slipway.base.schema import convert
from slipway.bootstrap import debian_layout
from slipway.bootstrap.description import (
    PLACEHOLDER,
    PackageDescription,
)
from slipway.bootstrap.finishing import (
    check_glibc,
    compile_python,
    is_dynamic,
    run_patchelf,
    run_step,
    set_run_paths,
    wrap,
)
from slipway.bootstrap.sources import Tree
from slipway.bootstrap.staging import ResolvedSource, make_links, stage
from slipway.channel.package_writer import PackageRecord, to_json, write_package

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from slipway.base.proc import Processes
    from slipway.bootstrap.cache import Cache
    from slipway.bootstrap.interpreter import Interpreter

_LEVEL = 7


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
    glibc: str,
    cache: Cache,
    tools: tuple[AssembledPackage, ...],
    interpreter: Interpreter | None,
    processes: Processes,
) -> AssembledPackage:
    """Make the package and put it into the cache under `key`.

    Args:
        glibc: what its programs and libraries must run with, X.Y.

    Raises:
        ChannelError: a source is not what the description expects, or needs a newer glibc; `where` names the data file.
    """
    with cache.scratch() as scratch, _name_origin(description):
        tree = Tree(scratch / "tree")
        info: dict[str, bytes] = {}
        scripts: list[str] = []
        for source in sources:
            scripts += stage(source, description, tree, info, interpreter, scratch)
        for text in description.texts:
            tree.put(text.path, text.content.encode(), 0o755 if text.executable else 0o644)
        make_links(description, tree)
        for step in description.steps:
            needed = [tool.path for tool in tools if tool.name in step.tools]
            run_step(step, description.step_files, tree, needed, interpreter, processes, scratch)
        if description.python and any(source.wheel and source.install for source in description.sources):
            compile_python(description.python, tree, interpreter, processes)
        for wrapper in description.wrappers:
            wrap(wrapper, tree)
        for run_path in description.run_paths:
            set_run_paths(run_path, tree, processes)
        if any(source.deb and source.install for source in description.sources):
            found = debian_layout.run_paths(tree.paths(), lambda path: is_dynamic(tree.root / path))
            for value, elves in found:
                run_patchelf(value, elves, tree, processes)
        if interpreter is None or not any(source.description.interpreter for source in sources):
            check_glibc(tree, glibc)  # what was made on this machine runs here, whatever it has
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
