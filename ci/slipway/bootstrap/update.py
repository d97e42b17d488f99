"""Rewrites the lock file from the descriptions: each file's name, size and sha256; Debian's packages as of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.platform import LINUX_64
from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.download import DebianArchive, Host
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.lock import Lock, LockedWheel, write_lock

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base import log
    from slipway.base.platform import Platform


def update_lock(data: Path, cache: Path, reporter: log.Reporter) -> int:
    """Note the hash of every pinned wheel for every Python, and of every Debian package as it is offered today.

    Returns how many files are locked.

    The wheels stay in the cache, so that the next assembly need not fetch them again.
    """
    inventory = read_inventory(data)
    store = Cache(cache)
    pythons = inventory.settings.pythons
    debs: dict[Platform, set[str]] = {}
    wanted: dict[tuple[str, str], set[tuple[str, Platform]]] = {}
    for description in inventory.everything():
        for source in description.sources:
            if source.kind == "deb":
                debs.setdefault(description.platform, set()).add(source.name)
            elif source.kind == "wheel":
                serves = (description.python or pythons[0], description.platform)
                wanted.setdefault((source.name, source.pin or ""), set()).add(serves)
    locked: dict[tuple[str, str, str], LockedWheel] = {}
    processes = Processes()
    with (
        typed_disk_errors(cache),
        store.exclusive(reporter),
        reporter.task("Resolving wheels", total=len(wanted)) as task,
    ):
        for (project, version), versions in sorted(wanted.items()):
            task.update(text=f"{project} {version}")
            for python, platform in sorted(versions, key=_in_order):
                if (project, version, "any" if platform == LINUX_64 else f"any-{platform.cpu}") in locked:
                    continue  # one file serves every Python
                with store.scratch() as scratch:
                    path, sha256, size = wheels.resolve(project, version, python, processes, scratch, cpu=platform.cpu)
                    wheel = LockedWheel(project, version, wheels.tag_of(path.name, python), path.name, sha256, size)
                    wheels.store_download(path, sha256, store.downloads)
                locked[project, version, wheel.tag] = wheel
            task.advance(1)
        lock = Lock(inventory.settings.suite, {}, locked)
        archive = DebianArchive(store, lock, Host(), processes, offline=False)
        offers = archive.offers(sorted(debs.pop(LINUX_64)))
        known = Lock(lock.suite, offers, locked)
        others = {known.deb_name(name, platform) for platform, names in debs.items() for name in names} - offers.keys()
        offers |= archive.offers(sorted(others)) if others else {}
    write_lock(inventory.lock_path, lock.suite, offers.values(), locked.values())
    return len(locked) + len(offers)


def _in_order(serves: tuple[str, Platform]) -> tuple[bool, tuple[int, ...]]:
    python, platform = serves
    return platform != LINUX_64, tuple(map(int, python.split(".")))
