"""Bundles: all that packages were built from, in one file. `rebuild` and `ship` work from it without a network.

    bundle.json        every other file's fingerprint
    request.json       what was asked for: recipe, variant, configurations; what each source was found to be
    checkout/          the recipe, its patches and local sources, placed as they were
    configurations/    variant configurations beside the recipe's own
    sources/, git/     files and commits that were fetched, placed as in the cache
    channel/           the packages of every environment to build, test and judge in, with what their channels said of
                       them: solvers choose from them what they chose then
    packages/          the packages themselves, with their index

Unpacked by tar, the last two are channels: conda and its like install from them without a network.

What has only the first four is no more than what was asked for, with its sources: jobs on other machines get that.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping  # noqa: TC003 - `convert` reads the annotations
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError, IntegrityError, RecipeError, UsageError
from slipway.base.files import disk_errors, replace_file
from slipway.base.json_file import read_json
from slipway.base.platform import this_platform
from slipway.base.schema import InvalidValueError, convert
from slipway.base.scratch import scratch_folder
from slipway.base.secrets import redact, redact_values
from slipway.base.user_folders import cache_folder
from slipway.channel import limited_access
from slipway.channel.environments import Solution, solve
from slipway.channel.folder import Channel
from slipway.channel.package_writer import to_json
from slipway.channel.repodata import write_repodata
from slipway.channel.taken import take_packages
from slipway.model import Source  # noqa: TC001 - the same
from slipway.pipeline.bundle_archive import pack_files, unpack_files
from slipway.pipeline.finalize import finalize
from slipway.pipeline.manifest import RENDERED_FILES, recipe_files
from slipway.pipeline.plan import Plan, make_plan
from slipway.recipe import load_config, surrounding_configs
from slipway.request import Request
from slipway.source import copy_pinned, pin_sources
from slipway.source.leaves_out import reads_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slipway.base.paths import Workspace
    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput
    from slipway.pipeline.context import RunContext

REQUEST = "request.json"

HASHES = re.compile(r"[0-9a-fA-F]{40,64}")
"""Of commits and of files, by which the cache calls them."""


@dataclass(frozen=True)
class Bundle:
    """An unpacked bundle, every file of it as it was put there.

    Attributes:
        request: for the recipe in it, and what was asked of that then.
        own: the packages that were built.
        channels: to build from: the bundle's own, or what was asked for if it has no packages.
    """

    request: Request
    own: Channel
    channels: tuple[str, ...] | None


def write_bundle(
    path: Path, request: Request, rendered: Sequence[RenderedOutput], context: RunContext, *, since: Path | None = None
) -> Plan:
    """Put into the file `path` what the packages of `rendered`, which are in the channel, were built from.

    Args:
        since: an earlier bundle in the same folder; what it has is left out.

    Raises:
        ChannelError: a package is not there, or no longer what would be built now.
        RecipeError: a source's place is absolute, or git and .gitignore disagree about a file of it.
        IntegrityError: a package or source is not what it was when it was taken.
    """
    if since is not None and since.resolve().parent != path.resolve().parent:
        raise UsageError(
            "the earlier bundle lies in another folder",
            where=str(since),
            hint="the new one needs it beside itself: put it there",
        )
    solutions: list[Solution] = []

    def solve_noting(specs: Sequence[str], channels: Sequence[str], *, platform: Platform) -> Solution:
        solutions.append(solve(specs, channels, platform=platform))
        return solutions[-1]

    outputs = finalize(request, rendered, context.channels, solve_noting)
    inputs = context.plan_inputs()
    known = inputs.solve

    def note(specs: tuple[str, ...], platform: Platform) -> Solution:
        solutions.append(known(specs, platform))
        return solutions[-1]

    plan = make_plan(outputs, replace(inputs, solve=note))
    stale = [planned.output.key for planned in plan.outputs if planned.package is None]
    if stale:
        raise ChannelError(
            f"there is no package of {', '.join(f'`{key}`' for key in stale)} as it would be built now",
            where=str(context.published.folder),
            hint="`slipway ship` with the same options builds it; then bundle it before anything changes",
        )
    for output in outputs:  # the environments that it is judged and tested in
        package = f"{output.name} =={output.version} {output.build_string}"
        for others in {(), output.test.requires}:
            channels = (context.published.url, *context.channels)
            solve_noting([package, *others], channels, platform=request.platform)
    with scratch_folder("bundle") as scratch, replace_file(path) as beside:
        members = _collect_request(scratch, request, rendered, [planned.output for planned in plan.outputs])
        pack_files(beside, members | _collect_packages(scratch, plan, solutions), since)
        _try_opening(beside, request, outputs, beside=path.parent)
    return plan


def write_request(path: Path, request: Request, rendered: Sequence[RenderedOutput]) -> None:
    """Put into the file `path` what was asked for and its sources, pinned: all of a bundle but packages.

    Raises:
        RecipeError, NetworkError, IntegrityError: as `write_bundle` and `slipway.source.pin_sources`.
    """
    outputs = [
        pin_sources(output, offline=request.offline, environ=request.environ, pinned_before=request.pinned)
        for output in rendered
    ]
    with scratch_folder("bundle") as scratch, replace_file(path) as beside:
        pack_files(beside, _collect_request(scratch, request, rendered, outputs))
        _try_opening(beside, request, outputs, beside=path.parent)


def _try_opening(path: Path, request: Request, outputs: Sequence[RenderedOutput], *, beside: Path) -> None:
    """See to it that the bundle opens, and has what `outputs` read."""
    with open_bundle(path, request.workspace, request.environ, beside=beside) as bundle:
        for output in outputs:
            _compare(output, bundle.request.recipe)


def _collect_request(
    scratch: Path, request: Request, rendered: Sequence[RenderedOutput], outputs: Sequence[RenderedOutput]
) -> dict[str, Path]:
    """What was asked for and the sources, files by their names in the bundle; new ones are made in `scratch`.

    Args:
        outputs: `rendered` with every source pinned.
    """
    members, checkout = place_sources(outputs)

    def add(name: str, content: str | bytes) -> str:
        target = scratch / "new" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        members[name] = target
        return name

    for name in RENDERED_FILES:
        if (request.recipe / name).is_file():
            text = (request.recipe / name).read_text(encoding="utf-8")
            add(f"{checkout.recipe}/{name}", redact(text, parameters=False))
    below = [*map(load_config, request.exclusive_configs)] or surrounding_configs(request.surroundings)
    above = [load_config(file) for file in request.variant_configs]
    pinned = dict(_pinned_sources(rendered, outputs))
    facts = {
        "recipe": checkout.recipe,
        "folders": checkout.folders,
        "asked": request.asked,
        "channels": request.channels and [limited_access.without_credentials(name) for name in request.channels],
        "variants": request.variants,
        "below": [add(f"configurations/below-{index}.yaml", one.text) for index, one in enumerate(below)],
        "above": [add(f"configurations/above-{index}.yaml", one.text) for index, one in enumerate(above)],
        "pinned": redact_values([[asdict(one) for one in pair] for pair in pinned.items()], parameters=False),
    }
    add(REQUEST, to_json(facts))
    for source in pinned.values():
        copy_pinned(source, cache_folder(), scratch / "cache")
    cached = [file for file in (scratch / "cache").rglob("*") if file.is_symlink() or not file.is_dir()]
    return members | {file.relative_to(scratch / "cache").as_posix(): file for file in cached}


def _collect_packages(scratch: Path, plan: Plan, solutions: Sequence[Solution]) -> dict[str, Path]:
    """The packages, and those that they were built with, the same way."""
    outputs = [planned.output for planned in plan.outputs]
    own = [(planned.output.subdir, planned.package) for planned in plan.outputs if planned.package is not None]
    members = {f"packages/{subdir}/{path.name}": path for subdir, path in own}
    Channel(scratch / "packages").publish(own)
    own_names = {output.name for output in outputs}
    used = {
        package.url: (package, record)
        for one in solutions
        for package, record in zip(one.packages, one.records, strict=True)
        if package.name not in own_names
    }
    records = []
    archives = take_packages([package for package, _ in used.values()])
    for taken, (_, record) in zip(archives, used.values(), strict=True):
        said = json.loads(record.to_json())
        records.append((record.file_name, {key: said[key] for key in said.keys() - {"url", "channel", "fn"}}))
        members[f"channel/{record.subdir}/{record.file_name}"] = taken.archive
    write_repodata(scratch / "channel", records)
    indexes = [path for name in ("channel", "packages") for path in (scratch / name).glob("*/repodata.json")]
    return members | {path.relative_to(scratch).as_posix(): path for path in indexes}


@dataclass(frozen=True)
class _Checkout:
    """Where the recipe and the folders of local sources lie in a bundle."""

    recipe: str
    folders: list[str]


def place_sources(outputs: Sequence[RenderedOutput]) -> tuple[dict[str, Path], _Checkout]:
    """The files of the recipe, its patches and local sources by their names in the bundle."""
    files: dict[Path, Path] = {}
    folders: set[Path] = set()
    recipe = outputs[0].recipe_dir
    for output in (*outputs, *(output.staging for output in outputs if output.staging is not None)):
        files |= {recipe / name: recipe / name for name in recipe_files(output).files}
        for source in output.sources:
            reads = reads_of(output, source)
            files |= {_place(recipe, name): (recipe / name).resolve() for name in source.patches}
            if source.path is None or reads.tree is None:
                continue
            base = _place(recipe, source.path)
            if reads.tree.root.is_file():
                files[base] = reads.tree.root
                continue
            folders.add(base)
            files |= {base / name: reads.tree.root / name for name in reads.tree.files}
    root = os.path.commonpath([recipe, *folders, *(place.parent for place in files)])

    def name_of(place: Path) -> str:
        return Path("checkout", place.relative_to(root)).as_posix()

    placed = {name_of(place): file for place, file in files.items()}
    return placed, _Checkout(name_of(recipe), sorted(map(name_of, folders)))


def _place(recipe: Path, name: str) -> Path:
    """Where a recipe says that something lies, links not followed."""
    if Path(name).is_absolute():
        raise RecipeError(
            f"`{name}` is an absolute place, which is another one for everybody",
            where=str(recipe),
            hint="name it relative to the recipe's folder; a bundle holds it there",
        )
    return Path(os.path.normpath(recipe / name))


def _pinned_sources(
    rendered: Sequence[RenderedOutput], outputs: Sequence[RenderedOutput]
) -> Iterator[tuple[Source, Source]]:
    """What is fetched for `outputs`: as `rendered` without asking anybody, and as it was found."""
    for before, after in zip(rendered, outputs, strict=True):
        yield from zip(before.sources, after.sources, strict=True)
        if before.staging is not None and after.staging is not None:
            yield from zip(before.staging.sources, after.staging.sources, strict=True)


def _compare(output: RenderedOutput, recipe: Path) -> None:
    """See to it that `output` reads in the bundle's `recipe` what it reads where it lies, although git is not there."""
    for one in filter(None, (output, output.staging)):
        moved = replace(one, recipe_dir=recipe)
        trees = [(recipe_files(one), recipe_files(moved))]
        trees += [
            (here.tree, there.tree)
            for here, there in ((reads_of(one, source), reads_of(moved, source)) for source in one.sources)
            if here.tree is not None and there.tree is not None
        ]
        for here, there in trees:
            differ = sorted(here.fingerprints.items() ^ there.fingerprints.items())
            if differ:
                raise RecipeError(
                    f"git has `{differ[0][0]}` as a source although a .gitignore names it, and no bundle holds git",
                    where=str(here.root),
                    hint="take it out of the .gitignore",
                )


@dataclass(frozen=True)
class _Asked:
    """request.json: what was asked for, and for each source as the recipe names it, that source as it was found."""

    recipe: str
    folders: tuple[str, ...]
    asked: Mapping[str, str]
    channels: tuple[str, ...] | None
    variants: Mapping[str, Any] | None
    below: tuple[str, ...]
    above: tuple[str, ...]
    pinned: tuple[tuple[Source, ...], ...]

    def __post_init__(self) -> None:
        if any(len(pair) != 2 for pair in self.pinned):
            raise InvalidValueError("pairs of sources", "pinned")

    def stays_in(self, folder: Path) -> bool:
        """Whether all places that it names are in the bundle, and its hashes are no places."""
        places = (self.recipe, *self.folders, *self.below, *self.above)
        hashes = [known for pair in self.pinned for known in (pair[1].git_commit, pair[1].sha256) if known]
        return all((folder / place).resolve().is_relative_to(folder.resolve()) for place in places) and all(
            map(HASHES.fullmatch, hashes)
        )


@contextmanager
def open_bundle(
    path: Path, workspace: Workspace, environ: Mapping[str, str] = os.environ, *, beside: Path | None = None
) -> Iterator[Bundle]:
    """The bundle in the file `path`, unpacked for as long as the block lasts; what was fetched goes into the cache.

    Args:
        beside: where the earlier bundle lies that it needs, if not beside it.

    Raises:
        UsageError: there is no such file.
        IntegrityError: it is no bundle, or not as it was made.
        DiskFullError: there is no room to unpack it.
    """
    if not path.is_file():
        raise UsageError("there is no such bundle", where=str(path), hint="`slipway bundle FILE` makes one")
    with scratch_folder("bundle") as folder:
        with disk_errors("the disk is full, so a bundle could not be unpacked", where=folder,
                         hint="make room, or name another folder in TMPDIR"):  # fmt: skip
            unpack_files(path, folder, beside or path.parent)
        asked = convert(read_json(folder / REQUEST), _Asked)
        if asked is None or not asked.stays_in(folder):
            raise IntegrityError(
                f"the bundle's {REQUEST} is none of slipway's", where=str(path), hint="make the bundle again"
            )
        for place in asked.folders:
            (folder / place).mkdir(parents=True, exist_ok=True)
        pinned = {pair[0]: pair[1] for pair in asked.pinned}
        for source in pinned.values():
            copy_pinned(source, folder, cache_folder(environ))
        whole = (folder / "channel").is_dir()
        request = Request(
            recipe=folder / asked.recipe,
            platform=this_platform(),
            workspace=workspace,
            asked=asked.asked,
            channels=asked.channels,
            exclusive_configs=tuple(folder / name for name in asked.below),
            variant_configs=tuple(folder / name for name in asked.above),
            variants=asked.variants,
            environ=environ,
            offline=whole,
            pinned=pinned,
        )
        channels = ((folder / "channel").as_uri(),) if whole else request.channels
        yield Bundle(request, Channel(folder / "packages"), channels)
