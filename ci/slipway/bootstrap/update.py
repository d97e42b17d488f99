"""Makes the lock file fit the descriptions: each file's name, size and sha256; Debian's packages as of the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.platform import LINUX_64
from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.download import DebianArchive, Host
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.lock import Lock, LockedWheel, read_lock, write_lock

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base import log
    from slipway.base.platform import Platform
    from slipway.bootstrap.debs import OfferedDeb


def update_lock(data: Path, cache: Path, reporter: log.Reporter, *, refresh: bool) -> tuple[int, int]:
    """Lock what descriptions name, for every Python and platform; what none names any more goes.

    The wheels stay in the cache, so that the next assembly need not fetch them again.

    Args:
        refresh: look at everything anew, Debian's packages as they are offered today; else only at what is not locked.

    Returns:
        How many files are locked, and how many of them were not before.
    """
    inventory = read_inventory(data)
    store = Cache(cache)
    suite = inventory.settings.suite
    old = Lock(suite, {}, {}) if refresh or not inventory.lock_path.exists() else read_lock(inventory.lock_path)
    debs: dict[Platform, set[str]] = {LINUX_64: set()}
    wanted: set[tuple[str, str, str, Platform]] = set()
    for description in inventory.everything():
        for source in description.sources:
            if source.kind == "deb":
                debs.setdefault(description.platform, set()).add(source.name)
            elif source.kind == "wheel":
                python = description.python or inventory.settings.pythons[0]
                wanted.add((source.name, source.pin or "", python, description.platform))
    locked: dict[tuple[str, str, str], LockedWheel] = {}
    processes = Processes()
    with (
        typed_disk_errors(cache),
        store.exclusive(reporter),
        reporter.task("Resolving wheels", total=len(wanted)) as task,
    ):
        for project, version, python, platform in sorted(wanted, key=_in_order):
            task.update(text=f"{project} {version}")
            wheel = Lock(suite, {}, locked).find_wheel(project, version, python, platform)
            wheel = wheel or old.find_wheel(project, version, python, platform)
            if wheel is None:
                with store.scratch() as scratch:
                    path, sha256, size = wheels.resolve(project, version, python, processes, scratch, cpu=platform.cpu)
                    wheel = LockedWheel(project, version, wheels.tag_of(path.name, python), path.name, sha256, size)
                    wheels.store_download(path, sha256, store.downloads)
            locked[project, version, wheel.tag] = wheel
            task.advance(1)
        known, archives = Lock(suite, {}, locked), inventory.settings.archives
        archive = DebianArchive(store, known, Host(), processes, archives=archives, offline=False)

        def lock_debs(names: set[str]) -> dict[str, OfferedDeb]:
            missing = sorted(names - old.debs.keys())
            kept = {name: old.debs[name] for name in names & old.debs.keys()}
            return kept | (archive.offers(missing) if missing else {})

        chosen = lock_debs(debs.pop(LINUX_64))
        known = Lock(suite, chosen, locked)
        others = {known.deb_name(name, platform) for platform, names in debs.items() for name in names}
        chosen |= lock_debs(others - chosen.keys())
    write_lock(inventory.lock_path, suite, chosen.values(), locked.values())
    new = len(locked.keys() - old.wheels.keys()) + len(chosen.keys() - old.debs.keys())
    return len(locked) + len(chosen), new


def _in_order(wanted: tuple[str, str, str, Platform]) -> tuple[str, str, bool, tuple[int, ...]]:
    project, version, python, platform = wanted
    return project, version, platform != LINUX_64, tuple(map(int, python.split(".")))
