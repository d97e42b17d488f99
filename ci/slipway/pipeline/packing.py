"""Gives a built package its last form: the same content packs to the same bytes, wherever and whenever it was built.

Engines note in a package when and in which folder it was built, and list dependencies in a hash table's order. What
nobody reads goes; the rest is put in order; and the package gets what it was made from
(`slipway.pipeline.manifest.Manifest`) and what others can link of it (`slipway.pipeline.interface`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from slipway.base.files import replace_file
from slipway.base.secrets import redact
from slipway.channel.package import unpack_package
from slipway.channel.package_writer import to_json, write_archive
from slipway.engines.engine import CLOCK_SECONDS
from slipway.pipeline.interface import INTERFACE_FILE, make_interface
from slipway.pipeline.manifest import MANIFEST_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slipway.pipeline.manifest import Manifest

VOLATILE = frozenset({"recipe/rendered_recipe.yaml", "recipe/slipway_build.sh"})
"""Below ``info/``: times, folders and numbers of jobs, of which the manifest holds what counts in a steady form."""

FREE_TEXTS = ("recipe/", "test/", "tests/", "about.json")
"""Below ``info/``: what people wrote, which may hold secrets; the rest is made of names, versions and hashes."""

COMPRESSION_LEVEL = 9
"""16 takes nine times as long, for packages that are a twentieth smaller."""

ABOUT_KEYS = (
    "home", "dev_url", "doc_url", "doc_source_url", "license", "license_family", "license_url", "summary",
    "description", "identifiers", "keywords", "tags",
)  # fmt: skip
"""Keys of `about` that stand in a package's about.json as the recipe has them."""


def finish_package(package: Path, manifest: Manifest) -> None:
    """Replace the package at `package` by its final form.

    Raises:
        IntegrityError: the engine left something that is no package.
    """
    with replace_file(package) as beside, unpack_package(package) as folder:
        info = {
            name: _without_secrets(content) if name.startswith(FREE_TEXTS) else content
            for name, content in _info_files(folder)
            if name not in VOLATILE
        }
        about = _steady_about(json.loads(info["about.json"]))
        info["about.json"] = to_json(_as_written(manifest.rendered.get("about") or {}) | about)
        info["hash_input.json"] = to_json(manifest.rendered["hash_input"])
        info["index.json"] = to_json(_steady_index(json.loads(info["index.json"])))
        info[MANIFEST_FILE] = manifest.to_json()
        interface = make_interface(folder, info)
        if interface is not None:
            info[INTERFACE_FILE] = interface
        for path in sorted((folder / "info").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        (folder / "info").rmdir()
        write_archive(folder, beside, info, stem=package.name.removesuffix(".conda"), level=COMPRESSION_LEVEL)


def _info_files(folder: Path) -> list[tuple[str, bytes]]:
    """What lies below ``info/``; a link becomes what it leads to, unless that is a folder or outside of the package."""
    info = (folder / "info").resolve()
    return [
        (path.relative_to(info).as_posix(), path.read_bytes())
        for path in info.rglob("*")
        if path.is_file() and path.resolve().is_relative_to(info)
    ]


def _without_secrets(content: bytes) -> bytes:
    """What stands beside the package's files: the recipe above all, whose addresses may hold passwords."""
    try:
        return redact(content.decode(), parameters=False).encode()
    except UnicodeDecodeError:
        return content


def _steady_about(about: dict[str, Any]) -> dict[str, Any]:
    """Of channels nothing is noted: mirrors and folders give the same packages, which the manifest has by hash."""
    return about | ({"channels": []} if "channels" in about else {})


def _as_written(about: Mapping[str, Any]) -> dict[str, Any]:
    """What the recipe's `about` says and conda-build's about.json holds, of which the engine knows a part."""
    return {key: about[key] for key in ABOUT_KEYS if about.get(key)}


def _steady_index(index: dict[str, Any]) -> dict[str, Any]:
    return index | {
        "timestamp": CLOCK_SECONDS * 1000,
        "depends": sorted(index.get("depends", [])),
        "constrains": sorted(index.get("constrains", [])),
    }
