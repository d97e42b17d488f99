"""Channels that the cache keeps: found by what was asked for, and taken only where every byte is as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.cache_room import mark_used
from slipway.base.errors import ChannelError
from slipway.base.files import RememberedHashes
from slipway.base.json_file import read_json
from slipway.base.schema import convert
from slipway.channel.repodata import SUBDIRS, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.bootstrap.cache import Cache


@dataclass(frozen=True)
class ChannelPackage:
    """One package of the channel: `size` is in bytes, `sources` say what it was made from."""

    name: str
    version: str
    build: str
    size: int
    sources: tuple[str, ...]
    subdir: str
    sha256: str


@dataclass(frozen=True)
class EmbeddedChannel:
    """A channel folder. `digest` names its content: the same packages give the same digest."""

    path: Path
    packages: tuple[ChannelPackage, ...]
    digest: str

    @property
    def url(self) -> str:
        """What solvers take as a channel."""
        return self.path.as_uri()


@dataclass(frozen=True)
class ChannelPointer:
    """Which channel a request came to, as the cache keeps it."""

    digest: str
    packages: tuple[ChannelPackage, ...]


def load_channel(cache: Cache, stamp: str) -> EmbeddedChannel | None:
    """The channel that was made for the facts with the fingerprint `stamp`; None where it is not there as it was."""
    known = convert(read_json(cache.channels / f"{stamp}.json"), ChannelPointer)
    if known is None:  # there is none, or a machine stopped while it was written
        return None
    path, packages = cache.channels / known.digest, known.packages
    if not is_intact(path, packages, cache):
        return None
    mark_used(path)
    return EmbeddedChannel(path, packages, known.digest)


def is_intact(channel: Path, packages: Sequence[ChannelPackage], cache: Cache) -> bool:
    """Whether the index and every package lie there as they were made: a cache may come from elsewhere."""
    try:
        subdirs = {*SUBDIRS, *(package.subdir for package in packages)}
        indexes = {subdir: read_records(channel / subdir) for subdir in subdirs}
    except ChannelError:
        return False
    if sum(map(len, indexes.values())) != len(packages):
        return False
    hashes = RememberedHashes(cache.channels / f"{channel.name}.hashes")
    for package in packages:
        name = f"{package.name}-{package.version}-{package.build}.conda"
        file = channel / package.subdir / name
        if indexes.get(package.subdir, {}).get(name, {}).get("sha256") != package.sha256:
            return False
        if not file.is_file() or hashes.hash_file(file) != package.sha256:
            return False
    hashes.save()
    return True
