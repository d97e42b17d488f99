"""Makes a channel that the cache does not have: downloads and assembles packages, side by side, and indexes them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from slipway.base import errors
from slipway.base.events import Stage, StageKey
from slipway.base.files import link_or_copy, move_folder, write_file
from slipway.base.platform import LINUX_64
from slipway.bootstrap.assemble import AssembledPackage, assemble, load_assembled, package_key
from slipway.bootstrap.cache import typed_disk_errors
from slipway.bootstrap.code import code_digest
from slipway.bootstrap.download import DebianArchive, Host, bytes_on_disk, start_downloads
from slipway.bootstrap.inventory import EmbeddedInventory, read_inventory
from slipway.bootstrap.lock import Lock, LockedWheel, read_lock
from slipway.bootstrap.staging import ResolvedSource
from slipway.bootstrap.stored import ChannelPackage, ChannelPointer, EmbeddedChannel, is_intact
from slipway.channel import rattler
from slipway.channel.package_writer import to_json
from slipway.channel.repodata import set_behind, write_repodata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.base import log
    from slipway.base.proc import Processes
    from slipway.bootstrap.cache import Cache
    from slipway.bootstrap.choices import ChannelRequest
    from slipway.bootstrap.debs import OfferedDeb
    from slipway.bootstrap.description import PackageDescription, SourceDescription
    from slipway.bootstrap.interpreter import Interpreter


@dataclass(frozen=True)
class _Job:
    """A package to assemble: its key depends on everything that goes in."""

    description: PackageDescription
    sources: tuple[ResolvedSource, ...]
    key: str


@dataclass(frozen=True)
class Workplace:
    """What every stage of making a channel needs."""

    cache: Cache
    inventory: EmbeddedInventory
    lock: Lock
    processes: Processes
    executor: ThreadPoolExecutor
    archive: DebianArchive
    pythons: Mapping[str, Interpreter]
    reporter: log.Reporter
    offline: bool


def make_workplace(
    cache: Cache,
    data: Path,
    pythons: Mapping[str, Interpreter],
    processes: Processes,
    reporter: log.Reporter,
    *,
    host: Host | None,
    offline: bool,
) -> Workplace:
    """A workplace in `cache`, which is held for writing; the other arguments are those of `ensure_channel`."""
    inventory = read_inventory(data)
    lock = read_lock(inventory.lock_path)
    archives = inventory.settings.archives
    archive = DebianArchive(cache, lock, host or Host(), processes, archives=archives, offline=offline)
    executor = ThreadPoolExecutor(max_workers=8)
    return Workplace(cache, inventory, lock, processes, executor, archive, pythons, reporter, offline)


def make_channel(request: ChannelRequest, place: Workplace, *, stamp: str, refresh: bool) -> EmbeddedChannel:
    """Make the channel and keep it under `stamp`; see `slipway.bootstrap.ensure.ensure_channel`."""
    assert rattler.package_streaming  # read here: two threads that want a late module at once would find half of it
    from_debian = frozenset(version for version, python in place.pythons.items() if python.debian)
    full_pythons = {version: python.full_version for version, python in place.pythons.items()}
    target_python = ""
    if request.platform != LINUX_64:
        debian_python = place.lock.deb(f"python{place.inventory.settings.debian_python}-minimal")
        target_python = debian_python.version.partition("-")[0]
    descriptions = place.inventory.select(request, full_pythons, from_debian, target_python)
    try:
        names = sorted(
            {place.lock.deb_name(s.name, d.platform) for d in descriptions for s in d.sources if s.kind == "deb"}
        )
        with place.reporter.step(Stage(StageKey.DEBIAN_INDEX)):
            offers = place.archive.offers(names) if refresh else place.archive.choose(names)
        _tell_other_revisions(offers, place)
        jobs = _jobs(descriptions, offers, place)
        finished = _assemble_all(jobs, offers, place)
    except BaseException:
        # Also for Ctrl-C: what runs in threads ends first, so that nothing writes into folders that are being removed.
        place.processes.stop()
        place.executor.shutdown(wait=True, cancel_futures=True)
        raise
    place.executor.shutdown()
    preferred = request.python[0] if request.build_tools else None
    return _publish([finished[job.key] for job in jobs], place.cache, stamp, preferred)


def _tell_other_revisions(chosen: Mapping[str, OfferedDeb], place: Workplace) -> None:
    """Say which Debian packages are not those of the lock: what is built with them is not what it was."""
    moved = [
        f"{name} {place.lock.deb(name).version} -> {deb.version}"
        for name, deb in chosen.items()
        if deb.sha256 != place.lock.deb(name).sha256
    ]
    if moved:
        place.reporter.line(
            f"{len(moved)} Debian package(s) are not as locked: {', '.join(moved)}; "
            "`slipway bootstrap --update-lock` locks today's"
        )


def _jobs(
    descriptions: tuple[PackageDescription, ...], offers: Mapping[str, OfferedDeb], place: Workplace
) -> list[_Job]:
    code = code_digest()
    keys: dict[str, str] = {}
    jobs: list[_Job] = []
    for description in descriptions:
        sources = tuple(_resolve(source, description, offers, place) for source in description.sources)
        inputs = tuple((source.label, source.sha256) for source in sources)
        key = package_key(description, inputs, {name: keys[name] for name in description.tools}, code)
        if description.platform == LINUX_64:  # what runs here is a tool of others
            keys[description.name] = key
        jobs.append(_Job(description, sources, key))
    return jobs


def _resolve(
    source: SourceDescription,
    description: PackageDescription,
    offers: Mapping[str, OfferedDeb],
    place: Workplace,
) -> ResolvedSource:
    downloads = place.cache.downloads
    if source.kind == "deb":
        deb = offers[place.lock.deb_name(source.name, description.platform)]
        path = downloads / deb.sha256 / deb.file
        return ResolvedSource(source, f"deb {deb.name}={deb.version}", deb.sha256, path)
    if source.kind == "wheel":
        wheel = place.lock.wheel(source.name, source.pin or "", description.python, description.platform)
        return ResolvedSource(source, f"wheel {wheel.file}", wheel.sha256, downloads / wheel.sha256 / wheel.file)
    python = place.pythons[description.python or ""]
    return ResolvedSource(source, f"interpreter CPython {python.full_version}", python.fingerprint, None)


def _assemble_all(jobs: list[_Job], offers: Mapping[str, OfferedDeb], place: Workplace) -> dict[str, AssembledPackage]:
    """Download and assemble what the cache lacks: a package starts as soon as its downloads and tools are there."""
    finished = {job.key: found for job in jobs if (found := load_assembled(place.cache, job.key))}
    waiting = [job for job in jobs if job.key not in finished]
    keys = {job.description.name: job.key for job in jobs if job.description.platform == LINUX_64}
    hashes = {source.sha256 for job in waiting for source in job.sources}
    wheels = [wheel for wheel in place.lock.wheels.values() if wheel.sha256 in hashes]
    debs = [deb for deb in offers.values() if deb.sha256 in hashes]
    downloads = start_downloads(
        wheels,
        debs,
        python=next(iter(place.pythons), place.inventory.settings.pythons[0]),
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


def _assemble_one(job: _Job, tools: tuple[AssembledPackage, ...], place: Workplace) -> AssembledPackage:
    with typed_disk_errors(place.cache.root):
        return assemble(
            job.description,
            job.sources,
            job.key,
            glibc=place.inventory.settings.glibc,
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
        if f"{package.subdir}/{package.path.name}" in names:
            raise errors.ChannelError(f"two descriptions make `{package.path.name}`")
        names[f"{package.subdir}/{package.path.name}"] = package.sha256
    digest = hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()
    path = cache.channels / digest
    listed = tuple(
        ChannelPackage(p.name, p.version, p.build, p.size, p.sources, p.subdir, p.sha256)
        for p in sorted(packages, key=lambda p: p.name)
    )
    if not is_intact(path, listed, cache):
        shutil.rmtree(path, ignore_errors=True)
        with cache.scratch() as scratch:
            _write_channel(scratch / "channel", packages)
            if preferred_python is not None:
                set_behind(scratch / "channel", _other_pythons(packages, preferred_python))
            move_folder(scratch / "channel", path)
    write_file(cache.channels / f"{stamp}.json", to_json(asdict(ChannelPointer(digest, listed))))
    return EmbeddedChannel(path, listed, digest)
