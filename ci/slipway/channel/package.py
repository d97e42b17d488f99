"""A package file of conda's newer format (``.conda``), read."""

from __future__ import annotations

import asyncio
import json
import zipfile
from typing import TYPE_CHECKING

from rattler.package_streaming import PackageArchive

from slipway.base.errors import ChannelError

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE_SUFFIX = ".conda"

DIGEST_KEY = "slipway_digest"
"""Where a package's ``info/about.json`` keeps, under ``extra``, the digest of what it was made from."""


def package_name(path: Path) -> str:
    """The name in a package's file name: ``libtorch-cuda`` of ``libtorch-cuda-2.2.0-cuda130_h01_0.conda``."""
    return path.name.removesuffix(PACKAGE_SUFFIX).rsplit("-", 2)[0]


def read_package_digest(path: Path) -> str | None:
    """What `path` says it was made from (see `slipway.pipeline.manifest`), or None for a package that does not say."""
    about = json.loads(read_info(path, "about.json") or b"{}")
    extra = about.get("extra")
    # rattler-build keeps it below `extra`, conda-build's --extra-meta beside it.
    value = (extra if isinstance(extra, dict) else {}).get(DIGEST_KEY, about.get(DIGEST_KEY))
    return str(value) if value is not None else None


def read_paths(path: Path) -> frozenset[str]:
    """The files that the package at `path` installs.

    Raises:
        ChannelError: that is no readable package.
    """
    content = json.loads(read_info(path, "paths.json") or b"{}")
    return frozenset(str(entry["_path"]) for entry in content.get("paths", ()))


def read_info(path: Path, name: str) -> bytes | None:
    """The file `name` below ``info/`` in the package at `path`; None where it has none.

    Raises:
        ChannelError: that is no readable package.
    """

    async def read() -> bytes | None:
        return await (await PackageArchive.from_path(path)).read_file(f"info/{name}")

    try:
        return asyncio.run(read())
    except Exception as error:
        raise ChannelError(f"not a readable package: {error}", where=str(path)) from error


def is_whole(path: Path) -> bool:
    """Whether the file at `path` is a package whose parts have the checksums that stand beside them."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile):
        return False
