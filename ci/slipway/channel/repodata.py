"""repodata.json, the index that solvers read: written, from packages or from records of them, and looked through."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING, Any

import zstandard
from rattler import index

from slipway.base.errors import ChannelError
from slipway.base.platform import LINUX_64
from slipway.channel.package import PACKAGE_SUFFIX, is_whole
from slipway.channel.package_writer import to_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

SUBDIRS = LINUX_64.subdirs
"""What every channel of ours has, even when empty: solvers ask for both."""


def write_repodata(folder: Path, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write the repodata.json of every subdir from what is known of the packages, which need not lie there.

    Args:
        records: file name of each package, and what the index says of it (``subdir``, ``name``, ``sha256``, ...).
    """
    entries: dict[str, dict[str, dict[str, Mapping[str, Any]]]]
    entries = {subdir: {"packages": {}, "packages.conda": {}} for subdir in SUBDIRS}
    for name, record in records:
        entries[record["subdir"]]["packages.conda" if name.endswith(PACKAGE_SUFFIX) else "packages"][name] = record
    for subdir, packages in entries.items():
        content = {"info": {"subdir": subdir}, **packages, "removed": [], "repodata_version": 1}
        (folder / subdir).mkdir(parents=True, exist_ok=True)
        (folder / subdir / "repodata.json").write_bytes(to_json(content))


def write_index(folder: Path) -> None:
    """Write repodata.json (and its compressed form) of every subdir, from the packages that lie there.

    Raises:
        ChannelError: a package cannot be read.
    """
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


def find_index_problem(subdir: Path) -> str | None:
    """What is wrong with the index in a channel's `subdir`; None if nothing is."""
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
