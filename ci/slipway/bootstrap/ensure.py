"""From a request to a channel on disk, with the least work that the cache allows."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from slipway.base import errors, log
from slipway.base.events import Stage, StageKey
from slipway.base.files import RememberedHashes, link_or_copy, move_folder, write_file
from slipway.base.json_file import read_json
from slipway.base.paths import cache_folder
from slipway.base.proc import Processes
from slipway.base.schema import convert
from slipway.bootstrap.assemble import (
    AssembledPackage,
    ResolvedSource,
    assemble,
    code_digest,
    load_assembled,
    package_key,
)
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.choices import DATA, ChannelRequest, EmbeddedSettings
from slipway.bootstrap.debs import check_machine
from slipway.bootstrap.download import DebianArchive, Host, bytes_on_disk, start_downloads
from slipway.bootstrap.interpreter import Interpreter, find_interpreter
from slipway.bootstrap.inventory import EmbeddedInventory, read_inventory
from slipway.bootstrap.lock import Lock, LockedWheel, read_lock
from slipway.channel.package_writer import to_json
from slipway.channel.repodata import SUBDIRS, read_records, set_behind, write_repodata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.bootstrap.debs import OfferedDeb
    from slipway.bootstrap.description import PackageDescription, SourceDescription


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
class _Pointer:
    """Which channel a request came to, as the cache keeps it."""

    digest: str
    packages: tuple[ChannelPackage, ...]


@dataclass(frozen=True)
class _Job:
    """A package to assemble: its key depends on everything that goes in."""

    description: PackageDescription
    sources: tuple[ResolvedSource, ...]
    key: str


def ensure_channel(
    request: ChannelRequest,
    reporter: log.Reporter,
    *,
    cache: Path | None = None,
    offline: bool = False,
    refresh: bool = False,
    data: Path = DATA,
    host: Host | None = None,
) -> EmbeddedChannel:
    """Make the channel that `request` asks for, or find it in the cache.

    Args:
        cache: the cache folder; None for `slipway.base.paths.cache_folder`.
        offline: never use the network.
        refresh: take what Debian's index offers today, whatever the lock says.
        data: the folder of descriptions and lock.
        host: where the machine's own description lies.

    Raises:
        UsageError: the request is for something that the channel does not have.
        NetworkError, IntegrityError, DiskFullError, HostError, BusyError, ChannelError: see `slipway.base.errors`.
    """
    store = Cache(cache or cache_folder())
    inventory = read_inventory(data)
    inventory.settings.check(request)
    check_machine(inventory.settings.glibc, machine=platform.machine(), library=os.confstr("CS_GNU_LIBC_VERSION"))
    processes = Processes()
    pythons = _find_pythons(request, inventory.settings, processes)
    request = replace(request, python=tuple(pythons), build_tools=request.build_tools and len(pythons) > 1)
    code = code_digest()
    stamp = _stamp(request, inventory, pythons, code)
    if not refresh and (found := _load_channel(store, stamp)):
        return found
    with typed_disk_errors(store.root), store.exclusive(reporter):
        if not refresh and (found := _load_channel(store, stamp)):
            return found
        lock = read_lock(inventory.lock_path)
        place = _Workplace(
            store,
            processes,
            ThreadPoolExecutor(max_workers=8),
            DebianArchive(store, lock, host or Host(), processes, offline=offline),
            pythons,
            request.python[0] if request.build_tools else None,
            reporter,
            offline,
        )
        from_debian = frozenset(version for version, python in pythons.items() if python.debian)
        full_pythons = {version: python.full_version for version, python in pythons.items()}
        return _make(
            inventory.select(request, full_pythons, from_debian), lock, place, code=code, stamp=stamp, refresh=refresh
        )


def _find_pythons(request: ChannelRequest, settings: EmbeddedSettings, processes: Processes) -> dict[str, Interpreter]:
    """Those that are asked for; before them that of build tools, where that is asked for, too."""

    def find(version: str) -> Interpreter:
        return find_interpreter(version, processes, debian_python=settings.debian_python)

    found = {version: find(version) for version in request.python}
    for version in settings.pythons if request.build_tools else ():
        with suppress(errors.HostError):  # this machine may lack it; it has what was asked for
            return {version: found.get(version) or find(version)} | found
    return found


def _stamp(request: ChannelRequest, inventory: EmbeddedInventory, pythons: Mapping[str, Interpreter], code: str) -> str:
    interpreters = {version: python.fingerprint for version, python in pythons.items()}
    facts = [asdict(request), inventory.digest, interpreters, code]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _load_channel(cache: Cache, stamp: str) -> EmbeddedChannel | None:
    known = convert(read_json(cache.channels / f"{stamp}.json"), _Pointer)
    if known is None:  # there is none, or a machine stopped while it was written
        return None
    path, packages = cache.channels / known.digest, known.packages
    if not _intact(path, packages, cache):
        return None
    return EmbeddedChannel(path, packages, known.digest)


def _intact(channel: Path, packages: Sequence[ChannelPackage], cache: Cache) -> bool:
    """Whether the index and every package lie there as they were made: a cache may come from elsewhere."""
    try:
        indexes = {subdir: read_records(channel / subdir) for subdir in SUBDIRS}
    except errors.ChannelError:
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


@dataclass(frozen=True)
class _Workplace:
    """What every stage of one run needs."""

    cache: Cache
    processes: Processes
    executor: ThreadPoolExecutor
    archive: DebianArchive
    pythons: Mapping[str, Interpreter]
    preferred_python: str | None
    reporter: log.Reporter
    offline: bool


def _make(
    descriptions: tuple[PackageDescription, ...],
    lock: Lock,
    place: _Workplace,
    *,
    code: str,
    stamp: str,
    refresh: bool,
) -> EmbeddedChannel:
    try:
        names = sorted({s.name for d in descriptions for s in d.sources if s.kind == "deb"})
        with place.reporter.step(Stage(StageKey.DEBIAN_INDEX)):
            offers = place.archive.offers(names) if refresh else place.archive.choose(names)
        _tell_other_revisions(offers, lock, place.reporter)
        jobs = _jobs(descriptions, lock, offers, place, code)
        finished = _assemble_all(jobs, lock, offers, place)
    except BaseException:
        # Also for Ctrl-C: what runs in threads ends first, so that nothing writes into folders that are being removed.
        place.processes.stop()
        place.executor.shutdown(wait=True, cancel_futures=True)
        raise
    place.executor.shutdown()
    return _publish([finished[job.key] for job in jobs], place.cache, stamp, place.preferred_python)


def _tell_other_revisions(chosen: Mapping[str, OfferedDeb], lock: Lock, reporter: log.Reporter) -> None:
    """Say which Debian packages are not those of the lock: what is built with them is not what it was."""
    moved = [
        f"{name} {lock.deb(name).version} -> {deb.version}"
        for name, deb in chosen.items()
        if deb.sha256 != lock.deb(name).sha256
    ]
    if moved:
        reporter.line(
            f"{len(moved)} Debian package(s) are not as locked: {', '.join(moved)}; "
            "`slipway bootstrap --update-lock` locks today's"
        )


def _jobs(
    descriptions: tuple[PackageDescription, ...],
    lock: Lock,
    offers: Mapping[str, OfferedDeb],
    place: _Workplace,
    code: str,
) -> list[_Job]:
    keys: dict[str, str] = {}
    jobs: list[_Job] = []
    for description in descriptions:
        sources = tuple(_resolve(source, description, lock, offers, place) for source in description.sources)
        inputs = tuple((source.label, source.sha256) for source in sources)
        key = package_key(description, inputs, {name: keys[name] for name in description.tools}, code)
        keys[description.name] = key
        jobs.append(_Job(description, sources, key))
    return jobs


def _resolve(
    source: SourceDescription,
    description: PackageDescription,
    lock: Lock,
    offers: Mapping[str, OfferedDeb],
    place: _Workplace,
) -> ResolvedSource:
    downloads = place.cache.downloads
    if source.kind == "deb":
        deb = offers[source.name]
        path = downloads / deb.sha256 / deb.file
        return ResolvedSource(source, f"deb {deb.name}={deb.version}", deb.sha256, path)
    if source.kind == "wheel":
        wheel = lock.wheel(source.name, source.pin or "", description.python)
        return ResolvedSource(source, f"wheel {wheel.file}", wheel.sha256, downloads / wheel.sha256 / wheel.file)
    python = place.pythons[description.python or ""]
    return ResolvedSource(source, f"interpreter CPython {python.full_version}", python.fingerprint, None)


def _assemble_all(
    jobs: list[_Job], lock: Lock, offers: Mapping[str, OfferedDeb], place: _Workplace
) -> dict[str, AssembledPackage]:
    """Download and assemble what the cache lacks: a package starts as soon as its downloads and tools are there."""
    finished = {job.key: found for job in jobs if (found := load_assembled(place.cache, job.key))}
    waiting = [job for job in jobs if job.key not in finished]
    keys = {job.description.name: job.key for job in jobs}
    hashes = {source.sha256 for job in waiting for source in job.sources}
    wheels = [wheel for wheel in lock.wheels.values() if wheel.sha256 in hashes]
    debs = [deb for deb in offers.values() if deb.sha256 in hashes]
    downloads = start_downloads(
        wheels,
        debs,
        python=next(iter(place.pythons)),
        archive=place.archive,
        cache=place.cache,
        processes=place.processes,
        executor=place.executor,
        offline=place.offline,
    )
    progress = _DownloadProgress(place.cache, wheels, debs, set(downloads))
    running: dict[Future[AssembledPackage], _Job] = {}
    workers = max(2, os.cpu_count() or 1)
    with (
        place.reporter.task("Downloading", total=progress.total, unit="bytes") as download_task,
        place.reporter.task("Assembling packages", total=len(waiting)) as package_task,
    ):
        while waiting or running:
            arrived = {sha256 for sha256, future in downloads.items() if future.done()}
            for sha256 in arrived:
                downloads[sha256].result()  # raises what went wrong
            for job in list(waiting):
                needed = {source.sha256 for source in job.sources} & downloads.keys()
                tools = [finished[keys[name]] for name in sorted(job.description.tools) if keys[name] in finished]
                if len(running) < workers and needed <= arrived and len(tools) == len(job.description.tools):
                    waiting.remove(job)
                    package_task.update(text=job.description.name)
                    running[place.executor.submit(_assemble_one, job, tuple(tools), place)] = job
            pending: list[Future[Any]] = [*running, *(future for future in downloads.values() if not future.done())]
            wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            download_task.update(completed=progress.completed())
            for done in [future for future in running if future.done()]:
                finished[running.pop(done).key] = done.result()
                package_task.advance(1)
    return finished


def _assemble_one(job: _Job, tools: tuple[AssembledPackage, ...], place: _Workplace) -> AssembledPackage:
    with typed_disk_errors(place.cache.root):
        return assemble(
            job.description,
            job.sources,
            job.key,
            cache=place.cache,
            tools=tools,
            interpreter=place.pythons.get(job.description.python or ""),
            processes=place.processes,
        )


class _DownloadProgress:
    """Counts bytes: those of finished downloads as the lock and the index state them, those of others as they lie."""

    def __init__(
        self, cache: Cache, wheels: Sequence[LockedWheel], debs: Sequence[OfferedDeb], missing: set[str]
    ) -> None:
        self._cache = cache
        items = [(wheel.sha256, wheel.file, wheel.size) for wheel in wheels]
        items += [(deb.sha256, deb.file, deb.size) for deb in debs]
        self._waiting = [item for item in items if item[0] in missing]
        self._finished = 0
        self.total = sum(size for _, _, size in self._waiting)

    def completed(self) -> int:
        """Bytes that are here by now."""
        for item in list(self._waiting):
            if self._cache.download(item[0], item[1]):
                self._waiting.remove(item)
                self._finished += item[2]
        return min(self.total, self._finished + (bytes_on_disk(self._cache) if self._waiting else 0))


def _write_channel(folder: Path, packages: Sequence[AssembledPackage]) -> None:
    """Fill an empty `folder` with the packages and their index."""
    for package in packages:
        target = folder / package.subdir / package.path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(package.path, target)
    write_repodata(
        folder,
        (
            (package.path.name, {**package.index, "md5": package.md5, "sha256": package.sha256, "size": package.size})
            for package in packages
        ),
    )


def _other_pythons(packages: Sequence[AssembledPackage], preferred: str) -> set[str]:
    """Hashes of the Pythons that solvers are to take only where something asks for them."""
    pythons = (package for package in packages if package.name == "python")
    return {package.sha256 for package in pythons if not package.version.startswith(f"{preferred}.")}


def _publish(
    packages: list[AssembledPackage], cache: Cache, stamp: str, preferred_python: str | None
) -> EmbeddedChannel:
    names = {} if preferred_python is None else {"preferred python": preferred_python}
    for package in packages:
        if package.path.name in names:
            raise errors.ChannelError(f"two descriptions make `{package.path.name}`")
        names[package.path.name] = package.sha256
    digest = hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()
    path = cache.channels / digest
    listed = tuple(
        ChannelPackage(p.name, p.version, p.build, p.size, p.sources, p.subdir, p.sha256)
        for p in sorted(packages, key=lambda p: p.name)
    )
    if not _intact(path, listed, cache):
        shutil.rmtree(path, ignore_errors=True)
        with cache.scratch() as scratch:
            _write_channel(scratch / "channel", packages)
            if preferred_python is not None:
                set_behind(scratch / "channel", _other_pythons(packages, preferred_python))
            move_folder(scratch / "channel", path)
    write_file(cache.channels / f"{stamp}.json", to_json(asdict(_Pointer(digest, listed))))
    return EmbeddedChannel(path, listed, digest)
