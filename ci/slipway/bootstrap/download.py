"""Brings every download that is missing into the cache, several at a time, and tells how far it is."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.base.files import write_file
from slipway.base.json_file import read_json
from slipway.base.platform import LINUX_64
from slipway.base.schema import convert
from slipway.bootstrap import wheels as wheels_module
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.debs import Apt, OfferedDeb, architectures, debian_sources, machine_codename

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from slipway.base.proc import Processes
    from slipway.bootstrap.lock import Lock, LockedWheel

_LARGE = 20_000_000


@dataclass(frozen=True)
class Host:
    """Where the machine says what it is: arguments, so that tests can stand in another machine's place."""

    os_release: Path = Path("/etc/os-release")
    etc_apt: Path = Path("/etc/apt")


@dataclass(frozen=True)
class _Remembered:
    """What an index offered in the stead of locked revisions, as it is kept."""

    suite: str
    debs: tuple[OfferedDeb, ...]


class DebianArchive:
    """Debian's packages as they are locked, or, where a mirror has dropped a revision, as they are offered today.

    Such a choice is remembered, so that a later run makes it again, and needs no network.
    """

    def __init__(
        self,
        cache: Cache,
        lock: Lock,
        host: Host,
        processes: Processes,
        *,
        archives: Mapping[str, Sequence[str]],
        offline: bool,
    ) -> None:
        self._cache = cache
        self._archives = archives
        self._lock = lock
        self._host = host
        self._processes = processes
        self._offline = offline
        self._memory = cache.apt / "offers.json"
        self._connected: Apt | None = None
        self._reached: frozenset[str] = frozenset()

    def choose(self, names: Sequence[str]) -> dict[str, OfferedDeb]:
        """What goes in for each name: what the lock says, as long as it is in the cache or to be had.

        Otherwise what was chosen in its stead, as long as that is in the cache, or else what the index offers now.

        Raises:
            ChannelError: the lock lacks a name.
            IntegrityError: the locked revision is offered, and is another one.
        """
        remembered = self._read_remembered()
        chosen = {}
        for name in names:
            both = [self._lock.deb(name), *([remembered[name]] if name in remembered else [])]
            here = next((deb for deb in both if self._cache.download(deb.sha256, deb.file)), None)
            if here is not None or self._offline:
                chosen[name] = here or both[0]
        missing = [self._lock.deb(name) for name in names if name not in chosen]
        if missing:
            listed = self._apt(names).listed(missing)
            chosen |= {deb.name: deb for deb in missing if deb.sha256 in listed}
            gone = [deb.name for deb in missing if deb.sha256 not in listed]
            for name, deb in (self.offers(gone) if gone else {}).items():
                if deb.version == self._lock.deb(name).version:
                    raise errors.IntegrityError(
                        f"the Debian index has {name} {deb.version} with other bytes than are locked",
                        hint="no revision of Debian's ever changes: look at the machine's apt sources",
                    )
                chosen[name] = deb
        return {name: chosen[name] for name in names}

    def offers(self, names: Sequence[str]) -> dict[str, OfferedDeb]:
        """What the index offers today, whatever the lock says."""
        found = self._apt(names).offers(sorted(names))
        stored = {**self._read_remembered(), **found}
        remembered = _Remembered(self._lock.suite, tuple(stored.values()))
        write_file(self._memory, json.dumps(asdict(remembered)))
        return found

    def fetch(self, debs: Sequence[OfferedDeb]) -> None:
        """Download packages into the cache."""
        apt = self._apt([deb.name for deb in debs])
        for deb, path in zip(debs, apt.download(debs), strict=True):
            wheels_module.store_download(path, deb.sha256, self._cache.downloads)

    def _read_remembered(self) -> dict[str, OfferedDeb]:
        stored = convert(read_json(self._memory), _Remembered)
        if stored is None or stored.suite != self._lock.suite:
            return {}
        return {deb.name: deb for deb in stored.debs}

    def _apt(self, names: Sequence[str]) -> Apt:
        wanted = architectures(names)
        others = [archive for archive, packages in self._archives.items() if not set(packages).isdisjoint(names)]
        reached = frozenset((*wanted, *others))
        if self._connected is None or not self._reached.issuperset(reached):
            if self._offline:
                raise _offline("Debian packages")
            codename = machine_codename(self._host.os_release)
            sources = [debian_sources(self._host.etc_apt, codename, self._lock.suite, wanted)]
            for archive in others:
                suite, _, component = archive.partition("/")
                sources.append(debian_sources(self._host.etc_apt, codename, suite, wanted, component=component))
            apt = Apt(self._cache.apt, "\n".join(sources), self._processes, wanted)
            apt.update()
            self._connected, self._reached = apt, reached
        return self._connected


def start_downloads(
    wheels: Sequence[LockedWheel],
    debs: Sequence[OfferedDeb],
    *,
    python: str,
    archive: DebianArchive,
    cache: Cache,
    processes: Processes,
    executor: Executor,
    offline: bool,
) -> dict[str, Future[None]]:
    """Start fetching whatever the cache lacks; the futures are keyed by sha256."""
    missing_wheels = [wheel for wheel in wheels if not cache.has_download(wheel.sha256, wheel.file)]
    missing_debs = [deb for deb in debs if not cache.has_download(deb.sha256, deb.file)]
    if offline and (missing_wheels or missing_debs):
        raise _offline(", ".join([*(wheel.file for wheel in missing_wheels), *(deb.file for deb in missing_debs)][:5]))

    def submit(work: Callable[[], None]) -> Future[None]:
        def guarded() -> None:
            with typed_disk_errors(cache.root):
                work()

        return executor.submit(guarded)

    futures: dict[str, Future[None]] = {}
    if missing_debs:
        shared = submit(lambda: archive.fetch(missing_debs))
        futures |= {deb.sha256: shared for deb in missing_debs}
    for batch in _batches(missing_wheels):
        shared = submit(lambda batch=batch: _fetch_batch(batch, python, cache, processes))  # type: ignore[misc]
        futures |= {wheel.sha256: shared for wheel in batch}
    return futures


def _batches(wheels: Sequence[LockedWheel]) -> list[list[LockedWheel]]:
    """Large wheels one by one, the largest first; small ones together per Python tag: a run of pip costs a second.

    Of two versions of a project (two CUDA versions have the same) each is in another batch: one run of pip takes one.
    """
    large = sorted((wheel for wheel in wheels if wheel.size >= _LARGE), key=lambda wheel: -wheel.size)
    batches = [[wheel] for wheel in large]
    small: dict[tuple[str, int], list[LockedWheel]] = {}
    versions = Counter[tuple[str, str]]()
    for wheel in wheels:
        if wheel.size < _LARGE:
            small.setdefault((wheel.tag, versions[wheel.tag, wheel.project]), []).append(wheel)
            versions[wheel.tag, wheel.project] += 1
    # The compilers wait for small packages only, so these go first.
    return [*small.values(), *batches]


def _fetch_batch(batch: Sequence[LockedWheel], python: str, cache: Cache, processes: Processes) -> None:
    tag = batch[0].tag
    serves, _, cpu = tag.partition("-")
    wanted = f"3.{serves.removeprefix('cp3')}" if serves.startswith("cp3") else python
    with tempfile.TemporaryDirectory(dir=cache.work, prefix="download-", ignore_cleanup_errors=True) as folder:
        wheels_module.fetch(batch, wanted, processes, Path(folder), cache.downloads, cpu or LINUX_64.cpu)


def bytes_on_disk(cache: Cache) -> int:
    """How many bytes of unfinished downloads there are right now."""
    total = 0
    for root in (*cache.work.glob("download-*"), cache.apt / "archives"):
        for folder, _, files in os.walk(root):
            for name in files:
                try:
                    total += (Path(folder) / name).stat().st_size
                except FileNotFoundError:
                    continue  # it was finished and moved in between
    return total


def _offline(what: str) -> errors.NetworkError:
    return errors.NetworkError(
        f"not in the cache, and `--offline` forbids to fetch: {what}", hint="run the command without `--offline` once"
    )
