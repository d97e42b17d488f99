"""Rewrites the lock file from the descriptions: each file's name, size and sha256; Debian's packages as of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.download import DebianArchive, Host
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.lock import Lock, LockedWheel, write_lock

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base import log


def update_lock(data: Path, cache: Path, reporter: log.Reporter) -> int:
    """Note the hash of every pinned wheel for every Python, and of every Debian package as it is offered today.

    Returns how many files are locked.

    The wheels stay in the cache, so that the next assembly need not fetch them again.
    """
    inventory = read_inventory(data)
    store = Cache(cache)
    pythons = inventory.settings.pythons
    debs: set[str] = set()
    wanted: dict[tuple[str, str], set[str]] = {}
    for description in inventory.everything():
        for source in description.sources:
            if source.kind == "deb":
                debs.add(source.name)
            elif source.kind == "wheel":
                wanted.setdefault((source.name, source.pin or ""), set()).add(description.python or pythons[0])
    locked: dict[tuple[str, str, str], LockedWheel] = {}
    processes = Processes()
    with (
        typed_disk_errors(cache),
        store.exclusive(reporter),
        reporter.task("Resolving wheels", total=len(wanted)) as task,
    ):
        for (project, version), versions in sorted(wanted.items()):
            task.update(text=f"{project} {version}")
            for python in sorted(versions, key=lambda text: tuple(map(int, text.split(".")))):
                if (project, version, "any") in locked:
                    continue  # one file serves every Python
                with store.scratch() as scratch:
                    path, sha256, size = wheels.resolve(project, version, python, processes, scratch)
                    wheel = LockedWheel(project, version, wheels.tag_of(path.name, python), path.name, sha256, size)
                    wheels.store_download(path, sha256, store.downloads)
                locked[project, version, wheel.tag] = wheel
            task.advance(1)
        lock = Lock(inventory.settings.suite, {}, locked)
        offers = DebianArchive(store, lock, Host(), processes, offline=False).offers(sorted(debs))
    write_lock(inventory.lock_path, lock.suite, offers.values(), locked.values())
    return len(locked) + len(offers)
