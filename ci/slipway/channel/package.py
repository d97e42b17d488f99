"""A package file of conda's newer format (``.conda``), read."""

from __future__ import annotations

import json
import shutil
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, IntegrityError
from slipway.base.scratch import scratch_folder
from slipway.channel import limited_access, rattler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PACKAGE_SUFFIX = ".conda"

DIGEST_KEY = "slipway_digest"
"""Where a package's ``info/about.json`` keeps, under ``extra``, the digest of what it was made from."""


def package_name(path: Path) -> str:
    """The name in a package's file name: ``libtorch-cuda`` of ``libtorch-cuda-2.2.0-cuda130_h01_0.conda``."""
    return path.name.removesuffix(PACKAGE_SUFFIX).rsplit("-", 2)[0]


def read_file_name(path: Path) -> str:
    """What a channel calls the package at `path`, whose own file name may be another one.

    Raises:
        ChannelError: that is no readable package.
    """
    index = json.loads(read_info(path, "index.json") or b"{}")
    try:
        return f"{index['name']}-{index['version']}-{index['build']}{PACKAGE_SUFFIX}"
    except (KeyError, TypeError) as error:
        raise ChannelError(f"not a readable package: its index.json says no {error}", where=str(path)) from error


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
    try:
        return read_info_files(path, [name]).get(name)
    except IntegrityError as error:
        raise ChannelError(f"not a readable package: {error.__cause__}", where=str(path)) from error


def read_info_files(location: Path | str, names: Iterable[str]) -> dict[str, bytes]:
    """Those of the files `names` below ``info/`` that a package has.

    Args:
        location: its file, or its address: only its metadata is fetched from there.

    Raises:
        IntegrityError: it cannot be read.
    """

    async def read(client: rattler.Client | None = None) -> dict[str, bytes]:
        if client is not None:
            archive = await rattler.package_streaming.PackageArchive.from_url(client, str(location))
        else:
            archive = await rattler.package_streaming.PackageArchive.from_path(location)
        found = {name: await archive.read_file(f"info/{name}") for name in names}
        return {name: content for name, content in found.items() if content is not None}

    with _reading_errors(location):
        if not isinstance(location, str):
            return rattler.run(read())
        with limited_access.limited_access([location.rsplit("/", 2)[0]]) as access:
            return rattler.run(read(access.client()))


@contextmanager
def unpack_package(path: Path) -> Iterator[Path]:
    """The package at `path`, one of our own, unpacked in a scratch folder.

    Raises:
        IntegrityError: it is not a readable package.
    """
    with scratch_folder("package") as folder:
        with _reading_errors(path):
            rattler.package_streaming.extract(path, folder)
        yield folder


def unpack_files(path: Path, folder: Path) -> None:
    """Add the files (not the metadata) of a package that holds no placeholder to `folder`, as tools for a build.

    Raises:
        IntegrityError: it is not a readable package.
    """
    with _reading_errors(path):
        rattler.package_streaming.extract(path, folder)
    shutil.rmtree(folder / "info")


@contextmanager
def _reading_errors(location: Path | str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        # py-rattler wraps whatever went wrong; only a real system error, such as a full disk, has a number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise IntegrityError(f"the package is damaged: {error}", where=str(location)) from error


def is_panic(error: BaseException) -> bool:
    """Whether an error is Rust's word that a program of rattler gave up: no `Exception`, and of a type not exported."""
    return type(error).__name__ == "PanicException"


@contextmanager
def rattler_panics(where: str) -> Iterator[None]:
    """Turn a panic of rattler into a `ChannelError`: whatever it was given, was more than it could take."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise ChannelError(
            f"rattler gave up: {error}", where=where, hint="please report it, with the channel"
        ) from error


def is_whole(path: Path) -> bool:
    """Whether the file at `path` is a package whose parts have the checksums that stand beside them."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile):
        return False
