"""Puts the sources of a package into its tree: files by rules, wheels as pip does, texts of licences, links."""

from __future__ import annotations

import fnmatch
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.bootstrap import debian_layout
from slipway.bootstrap.description import (
    PLACEHOLDER,
    PackageDescription,
    SourceDescription,
)
from slipway.bootstrap.mapping import Glob, Template
from slipway.bootstrap.sources import SourceEntry, Tree, entry_points, open_deb, place, wheel_entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.bootstrap.interpreter import Interpreter


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


def stage(
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


def make_links(description: PackageDescription, tree: Tree) -> None:
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
