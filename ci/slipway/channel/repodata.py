"""repodata.json, the index that solvers read: written, from packages or from records of them, and looked through."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import zstandard

from slipway.base.errors import ChannelError, DiskFullError
from slipway.base.files import says_disk_full
from slipway.base.json_file import read_json
from slipway.base.platform import LINUX_64
from slipway.channel import rattler
from slipway.channel.package import PACKAGE_SUFFIX, is_whole
from slipway.channel.package_writer import to_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

SUBDIRS = LINUX_64.subdirs
"""What every channel of ours has, even when empty: solvers ask for both. Others are there where they hold packages."""

COMPRESSION_LEVEL = 19
"""Of the index; conda's own indexer takes this one."""


def write_repodata(folder: Path, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write the repodata.json of every subdir from what is known of the packages, which need not lie there.

    Args:
        records: file name of each package, and what the index says of it (``subdir``, ``name``, ``sha256``, ...).
    """
    entries: dict[str, dict[str, dict[str, Mapping[str, Any]]]]
    entries = {subdir: {"packages": {}, "packages.conda": {}} for subdir in SUBDIRS}
    for name, record in records:
        kind = "packages.conda" if name.endswith(PACKAGE_SUFFIX) else "packages"
        entries.setdefault(record["subdir"], {"packages": {}, "packages.conda": {}})[kind][name] = record
    for subdir, packages in entries.items():
        content = {"info": {"subdir": subdir}, **packages, "removed": [], "repodata_version": 1}
        (folder / subdir).mkdir(parents=True, exist_ok=True)
        (folder / subdir / "repodata.json").write_bytes(to_json(content))


def write_index(folder: Path) -> None:
    """Write repodata.json (and its compressed form) of every subdir, from the packages that lie there.

    Raises:
        ChannelError: a package cannot be read.
        DiskFullError: there is no room.
    """
    try:
        rattler.run(rattler.index_fs(folder, write_zst=False, write_shards=False, force=True))
    except Exception as error:  # py-rattler raises bare Exceptions here
        if says_disk_full(str(error)):
            raise DiskFullError(
                "the disk is full, so the channel's index could not be written",
                where=str(folder),
                hint="make room and run the same command again: the channel is as it was",
            ) from error
        for path in sorted(folder.glob(f"*/*{PACKAGE_SUFFIX}")):
            if not is_whole(path):
                raise ChannelError(
                    "a package of the channel is damaged, so it cannot be indexed",
                    where=f"{path.parent.name}/{path.name}",
                    hint="take it out of the channel; `slipway ship` does so with its own",
                ) from error
        raise ChannelError(f"the channel cannot be indexed: {error}", where=str(folder)) from error
    for subdir in sorted({*SUBDIRS, *(path.parent.name for path in folder.glob(f"*/*{PACKAGE_SUFFIX}"))}):
        index = folder / subdir / "repodata.json"
        if not index.is_file():
            raise ChannelError("the index was not written", where=str(folder / subdir))
        # Not by rattler, whose compressor takes a tenth of a second, however little there is.
        compressed = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(index.read_bytes())
        index.with_name("repodata.json.zst").write_bytes(compressed)
    shutil.rmtree(folder / ".tmp", ignore_errors=True)  # where the indexer writes before it renames


def set_behind(folder: Path, sha256: Collection[str]) -> None:
    """Let solvers take the packages with these hashes only where something asks for them, whatever their version.

    That is what conda's `track_features` in a package's record do. It holds until the index is written again.
    """
    for path in folder.glob("*/repodata.json"):
        content = json.loads(path.read_bytes())
        for record in content["packages.conda"].values():
            if record.get("sha256") in sha256:
                record["track_features"] = "set-behind"
        path.with_name("repodata.json.zst").unlink(missing_ok=True)
        path.write_bytes(to_json(content))


def read_records(subdir: Path) -> dict[str, dict[str, Any]]:
    """What the index in a channel's `subdir` says of each package, by file name, whatever the package's format.

    Raises:
        ChannelError: there is no index, or it is damaged.
    """
    document = read_json(subdir / "repodata.json")
    records: dict[str, dict[str, Any]] = {}
    for key in ("packages", "packages.conda"):
        kind = document.get(key, {}) if isinstance(document, dict) else None
        if not isinstance(kind, dict) or not all(isinstance(one, dict) for one in kind.values()):
            raise _damaged(subdir, "repodata.json is no index of packages")
        records |= kind
    return records


def check_repodata(subdir: Path) -> None:
    """See to it that there is an index in a channel's `subdir` that can be read, in both of its forms.

    Raises:
        ChannelError: it is not so.
    """
    read_records(subdir)
    packed = subdir / "repodata.json.zst"
    try:
        content = zstandard.ZstdDecompressor().decompressobj().decompress(packed.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, zstandard.ZstdError) as error:
        raise _damaged(subdir, str(error)) from error
    if content != (subdir / "repodata.json").read_bytes():
        raise _damaged(subdir, "repodata.json.zst says something else than repodata.json")


def _damaged(subdir: Path, problem: str) -> ChannelError:
    there = (subdir / "repodata.json").exists()
    return ChannelError(
        f"the channel's index is damaged: {problem}" if there else "the channel has no index",
        where=str(subdir),
        hint="`slipway ship`, `publish` or `bootstrap`, whichever made the channel, writes it again",
    )
