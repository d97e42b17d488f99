"""The channel: a folder of packages and their index, which changes in one step or not at all.

`publish` makes the channel's next state complete in a folder beside it (hard links to what stays, the new files, a new
index) and then swaps the two folders in one system call. Whoever reads the channel sees all of the old state or all of
the new one; an interrupted or failed publish leaves nothing but a folder that the next one removes.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import zipfile
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError
from slipway.engines.engine import DIGEST_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUBDIRS = ("linux-64", "noarch")
"""What every channel of ours has, even when empty: solvers ask for both."""

PACKAGE_SUFFIX = ".conda"

_INDEX_FILE = re.compile(r"(current_)?repodata.*\.(json|zst|bz2|lock)")
"""What indexing writes anew."""


def channel_url(folder: Path) -> str:
    """The ``file://`` address of a local channel."""
    return folder.resolve().as_uri()


def publish(folder: Path, packages: Iterable[tuple[str, Path]]) -> None:
    """Add (or replace) packages in the channel at `folder`, and index it, in one step.

    Args:
        folder: the channel; made when it does not exist.
        packages: subdir and file of each package.

    Raises:
        ChannelError: `folder` is something else than a channel, or a file is not a package.
    """
    if folder.exists() and not folder.is_dir():
        raise ChannelError("the channel is not a folder", where=str(folder))
    following = folder.with_name(f".{folder.name}.next")
    shutil.rmtree(following, ignore_errors=True)
    try:
        _copy_packages(folder, following)
        for subdir, path in packages:
            if path.suffix != PACKAGE_SUFFIX:
                raise ChannelError("not a conda package", where=str(path), hint=f"its name ends in {PACKAGE_SUFFIX}")
            target = following / subdir / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            link_or_copy(path, target)
        write_index(following)
        _replace_folder(folder, following)
    finally:
        shutil.rmtree(following, ignore_errors=True)


def _copy_packages(folder: Path, following: Path) -> None:
    for subdir in SUBDIRS:
        (following / subdir).mkdir(parents=True, exist_ok=True)
    if folder.is_dir():
        # All that is not the index: a channel of others may hold packages in the older format, notes and keys.
        for path in folder.rglob("*"):
            if path.is_file() and not _INDEX_FILE.match(path.name):
                target = following / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(path, target)


def link_or_copy(path: Path, target: Path) -> None:
    """A hard link where the file system allows one, else a copy."""
    try:
        os.link(path, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            raise
        shutil.copyfile(path, target)


def write_index(folder: Path) -> None:
    """Write repodata.json (and its compressed form) of every subdir, from the packages that lie there.

    Raises:
        ChannelError: a package cannot be read.
    """
    from rattler import index

    try:
        asyncio.run(index.index_fs(folder, write_zst=True, write_shards=False, force=True))
    except Exception as error:  # py-rattler raises bare Exceptions here
        for path in sorted(folder.glob(f"*/*{PACKAGE_SUFFIX}")):
            if not is_whole(path):
                raise ChannelError(
                    "a package of the channel is damaged, so it cannot be indexed",
                    where=f"{path.parent.name}/{path.name}",
                    hint="take it out of the channel; `slipway ship` does so with its own",
                ) from error
        raise ChannelError(f"the channel cannot be indexed: {error}", where=str(folder)) from error
    for subdir in SUBDIRS:
        if not (folder / subdir / "repodata.json").is_file():
            raise ChannelError("the index was not written", where=str(folder / subdir))
    shutil.rmtree(folder / ".tmp", ignore_errors=True)  # where the indexer writes before it renames


def _replace_folder(folder: Path, following: Path) -> None:
    """Put `following` in the place of `folder`; afterwards the old state, if any, is at `following`."""
    if not folder.exists():
        following.rename(folder)
        return
    if _exchange(folder, following):
        return
    # No atomic exchange on this file system: two renames, with a moment without a channel rather than a mixed one.
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    following.rename(folder)
    old.rename(following)


def _exchange(first: Path, second: Path) -> bool:
    """Linux's renameat2 with RENAME_EXCHANGE; False where the kernel or the file system has none."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    at_fdcwd, rename_exchange = -100, 2
    if renameat2(at_fdcwd, os.fsencode(first), at_fdcwd, os.fsencode(second), rename_exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(first))


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
    from rattler.package_streaming import PackageArchive

    async def read() -> bytes | None:
        return await (await PackageArchive.from_path(path)).read_file(f"info/{name}")

    try:
        return asyncio.run(read())
    except Exception as error:
        raise ChannelError(f"not a readable package: {error}", where=str(path)) from error


def is_indexed(folder: Path) -> bool:
    """Whether `folder` is a channel whose index can be read, in both of its forms."""
    return all(index_problem(folder / name) is None for name in SUBDIRS)


def is_whole(path: Path) -> bool:
    """Whether the file at `path` is a package whose parts have the checksums that stand beside them."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile):
        return False


def set_damaged_aside(folder: Path) -> list[Path]:
    """Give packages that are none another name, by which no index takes them; returns what they are called now."""
    aside = []
    for path in sorted(folder.glob(f"*/*{PACKAGE_SUFFIX}")):
        if not is_whole(path):
            aside.append(path.rename(path.with_name(f"{path.name}.damaged")))
    return aside


def index_problem(subdir: Path) -> str | None:
    """What is wrong with the index in a channel's `subdir`; None if nothing is."""
    import zstandard

    try:
        text = (subdir / "repodata.json").read_bytes()
        document = json.loads(text)
        packed = subdir / "repodata.json.zst"
        if packed.exists() and zstandard.ZstdDecompressor().decompressobj().decompress(packed.read_bytes()) != text:
            return "repodata.json.zst says something else than repodata.json"
    except FileNotFoundError:
        return "there is no repodata.json"
    except (OSError, ValueError, RecursionError, zstandard.ZstdError) as error:
        return str(error)
    kinds = [document.get(key, {}) for key in ("packages", "packages.conda")] if isinstance(document, dict) else [None]
    if not all(isinstance(kind, dict) and all(isinstance(one, dict) for one in kind.values()) for kind in kinds):
        return "repodata.json is no index of packages"
    return None


def damage(folder: Path, subdir: str, filename: str) -> str | None:
    """Why the package of that name must not be used: its bytes are not what the channel's index says; None if fine."""
    try:
        index = json.loads((folder / subdir / "repodata.json").read_bytes())
        record = index["packages.conda"].get(filename)
        promised = None if record is None else record["sha256"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        return f"the channel's index cannot be read ({type(error).__name__})"
    if record is None:
        return "the channel's index does not know the package"
    with (folder / subdir / filename).open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    return None if actual == promised else "its bytes are not what the channel's index says"
