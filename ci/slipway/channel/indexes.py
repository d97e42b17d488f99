"""All files that readers of a channel ask for, made from its catalogue.

    SUBDIR/repodata.json, .zst              what solvers read, with hotfixes
    SUBDIR/repodata_from_packages.json      the same without
    SUBDIR/repodata_shards.msgpack.zst      the same by package name: which of the shards has it
    SUBDIR/shards/SHA256.msgpack.zst        a shard; it never changes
    SUBDIR/run_exports.json                 what packages add to the requirements of what is built with them
    channeldata.json                        each name's newest version and what it is, for people who search

The same catalogue gives the same bytes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgpack
import zstandard

from slipway.base.platform import PLATFORMS
from slipway.channel import rattler
from slipway.channel.hotfixes import apply_hotfixes
from slipway.channel.package import PACKAGE_SUFFIX
from slipway.channel.package_writer import to_json
from slipway.channel.repodata import COMPRESSION_LEVEL, SUBDIRS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slipway.channel.catalogue import Catalogue, CataloguedPackage

SHARDS = "shards"
CHANNELDATA = "channeldata.json"

READ_FIRST = (
    *("repodata.json", "repodata.json.zst", "repodata.json.bz2", "repodata.jlap", "repodata_shards.msgpack.zst"),
    *("current_repodata.json", "current_repodata.json.zst", "current_repodata.json.bz2", "current_repodata.jlap"),
)
"""Where conda, mamba and rattler look for what a subdir holds."""

Records = dict[str, dict[str, Any]]


def make_indexes(catalogue: Catalogue) -> dict[str, bytes]:
    """Every index by its name, in the order in which they are to be written.

    Raises:
        ChannelError: a hotfix cannot be applied.
    """
    plain = {path: dict(package.record) for path, package in catalogue.packages.items()}
    patched = apply_hotfixes(catalogue.hotfixes, plain)
    files: dict[str, bytes] = {}
    for subdir in sorted({*SUBDIRS, *(path.partition("/")[0] for path in plain)}):
        removed = [path.partition("/")[2] for path in catalogue.removed if path.startswith(f"{subdir}/")]
        exports = {path: {"run_exports": dict(one.run_exports)} for path, one in catalogue.packages.items()}
        index = to_json(_repodata(subdir, patched, removed))
        files |= _make_shards(subdir, patched, removed)
        files[f"{subdir}/run_exports.json"] = to_json(
            {"info": {"subdir": subdir, "version": 1}, **_in(subdir, exports)}
        )
        files[f"{subdir}/repodata_from_packages.json"] = to_json(_repodata(subdir, plain, removed))
        files[f"{subdir}/repodata.json.zst"] = _compress(index)
        files[f"{subdir}/repodata.json"] = index
    files[CHANNELDATA] = to_json(_channeldata(catalogue.packages))
    return files


def foreign_indexes(made: Mapping[str, bytes]) -> list[str]:
    """Names that solvers would read an index from, on any platform, beside those that were `made`."""
    names = (f"{subdir}/{name}" for subdir in PLATFORMS for name in READ_FIRST)
    return [name for name in names if name not in made]


def _in(subdir: str, records: Mapping[str, Any]) -> dict[str, Records]:
    """The records of a subdir by file name, in the two kinds that indexes keep apart."""
    kinds: dict[str, Records] = {"packages": {}, "packages.conda": {}}
    for path, record in records.items():
        where, _, name = path.partition("/")
        if where == subdir:
            kinds["packages.conda" if name.endswith(PACKAGE_SUFFIX) else "packages"][name] = record
    return kinds


def _repodata(subdir: str, records: Mapping[str, Any], removed: list[str]) -> dict[str, Any]:
    return {"info": {"subdir": subdir}, **_in(subdir, records), "removed": removed, "repodata_version": 1}


def _make_shards(subdir: str, records: Mapping[str, Any], removed: list[str]) -> dict[str, bytes]:
    """The shards of a subdir, and behind them the index of shards."""
    by_name: dict[str, dict[str, Records]] = {}
    for kind, found in _in(subdir, records).items():
        for name, record in found.items():
            shard = by_name.setdefault(record["name"], {"packages": {}, "packages.conda": {}})
            shard[kind][name] = {key: _binary(key, value) for key, value in sorted(record.items())}
    files, hashes = {}, {}
    for package, shard in sorted(by_name.items()):
        content = _compress(msgpack.packb({**shard, "removed": []}))
        digest = hashlib.sha256(content)
        hashes[package] = digest.digest()
        files[f"{subdir}/{SHARDS}/{digest.hexdigest()}.msgpack.zst"] = content
    info = {"subdir": subdir, "base_url": "", "shards_base_url": f"./{SHARDS}/"}
    files[f"{subdir}/repodata_shards.msgpack.zst"] = _compress(msgpack.packb({"info": info, "shards": hashes}))
    return files


def _binary(key: str, value: Any) -> Any:
    return bytes.fromhex(value) if key in ("md5", "sha256") and isinstance(value, str) else value


def _compress(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(content)


def _channeldata(packages: Mapping[str, CataloguedPackage]) -> dict[str, Any]:
    by_name: dict[str, list[CataloguedPackage]] = {}
    for package in packages.values():
        by_name.setdefault(str(package.record["name"]), []).append(package)
    return {
        "channeldata_version": 1,
        "packages": {name: _describe(found) for name, found in sorted(by_name.items())},
        "subdirs": sorted({*SUBDIRS, *(path.partition("/")[0] for path in packages)}),
    }


def _describe(packages: Iterable[CataloguedPackage]) -> dict[str, Any]:
    ordered = sorted(packages, key=newness)
    newest = ordered[-1]
    return {
        **newest.about,
        "license": newest.record.get("license") or newest.about.get("license"),
        "run_exports": {str(one.record["version"]): dict(one.run_exports) for one in ordered if one.run_exports},
        "subdirs": sorted({str(one.record["subdir"]) for one in ordered}),
        "timestamp": newest.record.get("timestamp", 0),
        "version": newest.record["version"],
    }


def newness(package: CataloguedPackage) -> tuple[rattler.Version, int, int]:
    """What orders the packages of one name: version, build number, time."""
    record = package.record
    return rattler.Version(str(record["version"])), int(record["build_number"]), int(record.get("timestamp") or 0)
