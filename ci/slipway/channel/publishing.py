"""Publish packages to a channel wherever it lies, so that its readers never see an index that names a missing file.

1. The packages are uploaded; nobody knows of them yet.
2. The catalogue is exchanged, if it is still the one that was read; if not, it is read again, and so on from there.
3. The indexes are made from it and written.
4. If the catalogue has changed meanwhile, they are made and written again.

Whoever is killed leaves files that no index names, or indexes of before. The next one who publishes goes on from
there. In a folder all of it takes place in one step.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slipway.base.errors import BusyError, ChannelError, UsageError
from slipway.base.files import hash_file, link_or_copy
from slipway.base.scratch import scratch_folder
from slipway.channel import indexes
from slipway.channel.catalogue import (
    BILL_SUFFIX,
    CATALOGUE,
    STATEMENT_SUFFIX,
    Catalogue,
    CataloguedPackage,
    ChannelState,
    describe_package,
    parse_catalogue,
    take_over,
)
from slipway.channel.hotfixes import find_useless
from slipway.channel.package import read_file_name
from slipway.channel.repodata import SUBDIRS, read_records, write_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.channel.hotfixes import Hotfix
    from slipway.channel.stores import ChannelStore
    from slipway.channel.stores.stored import Stored

MOST_TRIES = 20
"""How often the catalogue is read again because somebody else was faster."""


@dataclass(frozen=True)
class PublishPlan:
    """What publishing will do.

    Attributes:
        address: the channel's.
        added: files by the path that they will have there.
        present: paths that are there already, with the same bytes.
        removed: paths that go.
        catalogue: what it holds then.
    """

    address: str
    added: Mapping[str, Path]
    present: tuple[str, ...]
    removed: tuple[str, ...]
    catalogue: Catalogue

    def lines(self) -> list[str]:
        """The plan, for people."""
        rows = [("add", path) for path in self.added] + [("there already", path) for path in self.present]
        rows += [("remove", path) for path in self.removed]
        return [f"{what:<14} {path}" for what, path in rows] or ["nothing to do"]

    def to_json(self) -> dict[str, Any]:
        """The plan, for machines."""
        return {
            "to": self.address,
            "add": list(self.added),
            "present": list(self.present),
            "remove": list(self.removed),
        }


@dataclass(frozen=True)
class ToPublish:
    """What is to be in a channel: packages by path, what is known of each, and hotfixes (None: those it has)."""

    files: Mapping[str, Path]
    described: Mapping[str, CataloguedPackage]
    hotfixes: tuple[Hotfix, ...] | None = None


def prepare(packages: Iterable[tuple[str, Path]], hotfixes: tuple[Hotfix, ...] | None = None) -> ToPublish:
    """Look into packages.

    Args:
        packages: subdir and file of each, which is published under the name that it has in itself.

    Raises:
        ChannelError: one is no package, or two are of one name.
    """
    files: dict[str, Path] = {}
    for subdir, path in packages:
        if (name := f"{subdir}/{read_file_name(path)}") in files and hash_file(path) != hash_file(files[name]):
            raise ChannelError(f"two packages are called {name}", where=str(path), hint="publish one of them")
        files[name] = path
    with scratch_folder("publish") as folder:
        for subdir in SUBDIRS:
            (folder / subdir).mkdir()
        for name, path in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            link_or_copy(path, folder / name)
        write_index(folder)
        records = {name: read_records((folder / name).parent)[(folder / name).name] for name in files}
    return ToPublish(files, {name: describe_package(path, records[name]) for name, path in files.items()}, hotfixes)


def make_plan(address: str, catalogue: Catalogue, wanted: ToPublish) -> PublishPlan:
    """What has to be done.

    Raises:
        ChannelError: another package of that name is there.
        UsageError: a new hotfix matches no package.
    """
    present = [name for name in wanted.files if name in catalogue.packages]
    for name in present:
        there, here = catalogue.packages[name].sha256, wanted.described[name].sha256
        if there != here:
            raise ChannelError(
                f"another package is published as {name}: sha256 {there}, and this one has {here}",
                where=address,
                hint="give the new one another build number; a published package never changes",
            )
    added = {name: path for name, path in sorted(wanted.files.items()) if name not in catalogue.packages}
    following = catalogue.with_packages({name: wanted.described[name] for name in added})
    if wanted.hotfixes is not None:
        following = replace(following, hotfixes=wanted.hotfixes)
        useless = find_useless(wanted.hotfixes, {path: one.record for path, one in following.packages.items()})
        if useless:
            raise UsageError(f"a hotfix matches no package: `{useless[0].packages}`", where=address)
    return PublishPlan(address, added, tuple(sorted(present)), (), following)


def plan_removal(address: str, catalogue: Catalogue, paths: Iterable[str]) -> PublishPlan:
    """What has to be done to take packages out.

    Raises:
        ChannelError: there is nothing.
    """
    if catalogue == Catalogue():
        raise ChannelError("the channel is empty, or there is none", where=address, hint="`slipway publish` makes one")
    gone = tuple(sorted(paths))
    return PublishPlan(address, {}, (), gone, catalogue.without_packages(gone))


def read_catalogue(store: ChannelStore) -> tuple[Catalogue, Stored | None]:
    """What a channel holds, and the file that says so, if there is one.

    Raises:
        ChannelError: that, or the index of a channel without it, is damaged.
    """
    found = store.read(CATALOGUE)
    if found is not None:
        return parse_catalogue(found.content, f"{store.address}/{CATALOGUE}"), found

    def read(name: str) -> bytes | None:
        one = store.read(name)
        return one.content if one is not None else None

    return take_over(read), None


def carry_out(
    store: ChannelStore,
    planned: Callable[[Catalogue], PublishPlan],
    reporter: Reporter,
    *,
    on_upload: Callable[[str], None] = lambda path: None,
    replace_leftovers: bool = False,
    seen: ChannelState | None = None,
) -> PublishPlan:
    """Change a channel; what was done.

    Args:
        planned: makes the plan from what the channel holds; called again where somebody else was faster.
        on_upload: told of each package that is there now and that no index names yet.
        replace_leftovers: write over files that no index names and that have other bytes.
        seen: the state that was there before, if one is known; a channel that is made anew goes on from it.

    Raises:
        ChannelError: what is there cannot be read, or must not be replaced.
        BusyError: others change it all the time.
        NetworkError: a server fails.
    """
    uploaded: set[str] = set()
    removed: set[str] = set()
    done: PublishPlan | None = None
    for _ in range(MOST_TRIES):
        catalogue, stored = read_catalogue(store)
        plan = planned(catalogue)
        done = done or plan
        for name in plan.added.keys() - uploaded:
            with reporter.step(f"upload {name}"):
                _upload(store, name, plan.added[name], replace_leftovers=replace_leftovers)
                on_upload(name)
            uploaded.add(name)
        if stored is not None and plan.catalogue == catalogue:
            content = stored.content
        else:
            before = seen or ChannelState()
            number = max(catalogue.number, before.number) + 1
            identity = catalogue.identity or before.identity or uuid.uuid4().hex
            content = replace(plan.catalogue, number=number, identity=identity).to_bytes()
            if not store.exchange(CATALOGUE, content, stored):
                continue
        removed.update(plan.removed)
        _write_indexes(store, plan.catalogue)
        now = store.read(CATALOGUE)
        if now is None or now.content != content:
            continue
        for name in removed - plan.catalogue.packages.keys():
            for suffix in ("", BILL_SUFFIX, STATEMENT_SUFFIX):
                store.remove(name + suffix)
        return done
    raise BusyError(
        "others publish to the same channel all the time",
        where=store.address,
        hint="what was uploaded stays; run the same command again",
    )


def _upload(store: ChannelStore, name: str, path: Path, *, replace_leftovers: bool) -> None:
    if store.exchange(name, path, None) or store.hash_file(name) == hash_file(path):
        return
    if not replace_leftovers:
        raise ChannelError(
            f"a file with other bytes lies at {name}, which no index names",
            where=store.address,
            hint="another publisher is at work, or one was cut off; if nobody is, --replace-leftovers writes over it",
        )
    store.write(name, path)


def _write_indexes(store: ChannelStore, catalogue: Catalogue) -> None:
    """Write the indexes that are not there as they have to be."""
    for name, content in indexes.make_indexes(catalogue).items():
        if f"/{indexes.SHARDS}/" in name:
            store.exchange(name, content, None)  # one of that name holds the same
        elif (there := store.read(name)) is None or there.content != content:
            store.write(name, content)
