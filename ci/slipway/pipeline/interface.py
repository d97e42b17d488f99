"""What packages that are only linked with another one can see of it, as one sha256.

An output that says so in ``slipway.yaml`` (`slipway.model.RecipeSettings.links`) compiles against another output's
headers and links its libraries, and runs nothing of it. Then of those libraries counts what a linker reads
(`slipway.verify.linking`), and of all else in the package every byte: headers, CMake's files, static libraries,
programs, what the package requires and exports. As long as that stays, building again would give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import stat
from typing import TYPE_CHECKING

from slipway.base.files import hash_file
from slipway.channel.package import read_info
from slipway.verify import linking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

INTERFACE_FILE = "slipway-interface.json"
"""Where a package keeps it, below ``info/``."""

SEEN = ("index.json", "run_exports.json")
"""Files below ``info/`` that others are built differently for."""

LINKED = "interface "
"""In front of an interface, where a manifest has one in place of a digest."""


def make_interface(folder: Path, info: Mapping[str, bytes]) -> bytes | None:
    """The file for the package whose content lies in `folder`; None where it holds no library that is linked.

    Args:
        info: what is to lie below ``info/``.
    """
    files = dict(_files(folder))
    if not any(kind == "library" for kind, *_ in files.values()):
        return None
    seen = {name: hashlib.sha256(info[name]).hexdigest() for name in SEEN if name in info}
    digest = hashlib.sha256(json.dumps([files, seen], sort_keys=True).encode()).hexdigest()
    return (json.dumps({"sha256": digest}) + "\n").encode()


def _files(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.startswith("info/"):
            continue
        if path.is_symlink():
            yield name, ("link", str(path.readlink()))
        elif path.is_file():
            mode = str(bool(path.stat().st_mode & stat.S_IXUSR))
            linked = linking.linked_interface(path.read_bytes()) if ".so" in path.name else None
            yield name, ("library", linked, mode) if linked is not None else ("file", hash_file(path), mode)


def read_interface(package: Path) -> str | None:
    """The interface of the package at `package`, or None for one that does not say."""
    text = read_info(package, INTERFACE_FILE)
    return str(json.loads(text)["sha256"]) if text is not None else None
