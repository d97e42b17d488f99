"""A plan says how every output stands, and why, before anything is built.

`make_plan` goes through the outputs in build order. What one would be made from now (`slipway.pipeline.manifest`) is
compared with what its packages in the channels say they were made from. Of earlier outputs a later one needs the
digest only, not the bytes, so the whole plan can be made at once; what it only links counts by its interface, which
shows when it is built, and until then the plan says what depends on that. Making it reads files, packages and indexes,
and changes nothing: `slipway plan` prints it, `slipway.pipeline.run` carries it out.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, IntegrityError
from slipway.base.events import Reason
from slipway.channel.package import PACKAGE_SUFFIX, read_info, read_package_digest
from slipway.pipeline.interface import LINKED, read_interface
from slipway.pipeline.manifest import MANIFEST_FILE, STAGING_PREFIX, Manifest, differences, make_manifest
from slipway.pipeline.solving import Solve, solve_environments
from slipway.recipe import load_recipe_settings
from slipway.source.tree import SourceTree, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from slipway.channel.folder import Channel
    from slipway.channel.taken import SolvedPackage
    from slipway.model import RenderedOutput

SHOWN_CHANGES = 12
"""More of them than this help nobody."""


_MATTERS = {True: "comes with another interface", False: "is"}
"""What of an output that is not settled is waited for: it is built for sure, or waits for others itself."""


@dataclass(frozen=True)
class FoundPackage:
    """A package of an output, as it lies in a channel.

    Attributes:
        damage: why it must not be used; what it says of itself is then not read.
        digest: of what it was made from, and `manifest` (JSON) that itself; None where it does not say.
        interface: what others can link of it, see `slipway.pipeline.interface`.
    """

    path: Path
    damage: str | None = None
    digest: str | None = None
    manifest: bytes | None = None
    interface: str | None = None


@dataclass(frozen=True)
class PlanInputs:
    """What a plan is made from, beside the outputs.

    Attributes:
        engine: name and version of what builds.
        solve: what the solver picks for some specs on a platform; asked for the build and host environments.
        find_packages: the packages of an output that are there, the one that users have first.
        rebuild: build even what did not change.
        only: keys of the outputs to build, the others being taken as they are; None builds all.
    """

    engine: str
    solve: Solve
    find_packages: Callable[[RenderedOutput], Iterable[FoundPackage]]
    rebuild: bool = False
    only: frozenset[str] | None = None


@dataclass(frozen=True)
class PlannedOutput:
    """How one output stands.

    Attributes:
        digest: of what its package is made from, or will be.
        manifest: that itself; None for an output that is handed on.
        changes: what is different from the package that there is.
        package: the one that is taken as it lies; None where it is built.
        damaged: packages of it whose bytes are not those that their channel promises.
        interface: what others can link of its package (see `slipway.pipeline.interface`); where that is still to be
            built, of the one before it, which most edits do not change.
    """

    output: RenderedOutput
    reason: Reason
    digest: str
    manifest: Manifest | None = None
    changes: tuple[str, ...] = ()
    package: Path | None = None
    damaged: tuple[Path, ...] = ()
    interface: str | None = None

    @property
    def shown_changes(self) -> tuple[str, ...]:
        """The first changes, and how many there are beside."""
        more = len(self.changes) - SHOWN_CHANGES
        return (*self.changes[:SHOWN_CHANGES], *([f"and {more} more"] if more > 0 else []))


@dataclass(frozen=True)
class Plan:
    """Every output, in build order."""

    outputs: tuple[PlannedOutput, ...]


def make_plan(outputs: Sequence[RenderedOutput], inputs: PlanInputs) -> Plan:
    """How every one of `outputs`, which are in build order, stands.

    Raises:
        SolveError: a build or host environment has no solution.
        ChannelError: an output that is not to be built is not there.
    """
    own_names = {output.name for output in outputs}
    planned: list[PlannedOutput] = []
    read = functools.cache(read_tree)  # nothing is built meanwhile: each folder is listed once
    for output in outputs:
        planned.append(plan_output(output, planned, own_names, inputs, read))
    return Plan(tuple(planned))


def plan_output(
    output: RenderedOutput,
    earlier: Sequence[PlannedOutput],
    own_names: Collection[str],
    inputs: PlanInputs,
    read: Callable[[Path], SourceTree] = read_tree,
) -> PlannedOutput:
    """How one output stands; see `make_plan`.

    Args:
        earlier: the outputs before it.
        own_names: of all outputs of the recipe: no solver is asked for those, which need not exist yet.
        read: see `slipway.source.leaves_out.reads_of`.
    """
    if inputs.only is not None and output.key not in inputs.only:
        return _take_as_handed_on(output, inputs)
    solutions = _solve(output, own_names, inputs)
    required = required_names(output)
    if output.staging is not None:
        top_level = _solve(output.staging, own_names, inputs)
        solutions |= {f"{STAGING_PREFIX}{name}": packages for name, packages in top_level.items()}
        required |= required_names(output.staging)
    needed = [before for before in earlier if before.output.name in required]
    linked = load_recipe_settings(output.recipe_dir).links.get(output.name, ())
    manifest = make_manifest(
        output,
        engine=inputs.engine,
        environments={
            name: [package for package in packages if package.name not in own_names]
            for name, packages in solutions.items()
        },
        needed={
            before.output.key: f"{LINKED}{before.interface}"
            if before.interface is not None and before.output.name in linked
            else before.digest
            for before in needed
        },
        read=read,
    )
    planned = _compare(output, manifest, inputs)
    if planned.reason is Reason.UP_TO_DATE and (open_ := [one for one in needed if not _is_settled(one)]):
        changes = tuple(f"needs {one.output.key}: built again if that {_MATTERS[one.reason.builds]}" for one in open_)
        return replace(planned, reason=Reason.DEPENDS, changes=changes)
    return planned


def _is_settled(planned: PlannedOutput) -> bool:
    """Whether it is known what the package will be: it lies there, or was built by now."""
    return planned.package is not None and planned.reason is not Reason.DEPENDS


def _compare(output: RenderedOutput, manifest: Manifest, inputs: PlanInputs) -> PlannedOutput:
    """Whether there is a package of `output` that was made from just that, and if not, what is different."""
    changes: tuple[str, ...] | None = None
    damaged: list[Path] = []
    interface: str | None = None
    for found in inputs.find_packages(output):
        if found.damage is not None:
            changes = changes or (f"{found.path}: {found.damage}",)
            damaged.append(found.path)
        elif found.digest != manifest.digest:
            changes = changes or _find_changes(found, manifest)
            interface = interface or found.interface
        else:
            reason = Reason.REBUILT if inputs.rebuild else Reason.UP_TO_DATE
            return PlannedOutput(
                output,
                reason,
                manifest.digest,
                manifest,
                package=None if inputs.rebuild else found.path,
                damaged=tuple(damaged) if inputs.rebuild else (),
                interface=found.interface,
            )
    reason = Reason.NEW if changes is None else Reason.CHANGED
    changes = changes or ()
    return PlannedOutput(output, reason, manifest.digest, manifest, changes, None, tuple(damaged), interface)


def _find_changes(found: FoundPackage, manifest: Manifest) -> tuple[str, ...]:
    """What is different from the package that there is."""
    if found.manifest is None:
        return ("the package does not say what it was made from",)
    try:
        old = Manifest.from_json(found.manifest, where=str(found.path))
    except IntegrityError as error:
        return (error.message,)
    return tuple(differences(old, manifest))


def _take_as_handed_on(output: RenderedOutput, inputs: PlanInputs) -> PlannedOutput:
    """The package of an output that somebody else built, as it lies in the channel."""
    found = next(iter(inputs.find_packages(output)), None)
    if found is not None and found.digest is not None:
        return PlannedOutput(output, Reason.HANDED_ON, found.digest, package=found.path, interface=found.interface)
    state = "not there" if found is None else found.damage or "says not what it is made from"
    raise ChannelError(
        f"`{output.key}` is needed, and {state}",
        where=str(found.path) if found is not None else f"{output.subdir}/{output.key}{PACKAGE_SUFFIX}",
        hint="build it first, with the same recipe and the same variant configuration",
    )


def find_packages(channels: Sequence[Channel], output: RenderedOutput) -> Iterator[FoundPackage]:
    """The packages of `output` in `channels`, of which the earlier ones come first."""
    for channel in channels:
        path = channel.path_of(output.subdir, output.key)
        if not path.is_file():
            continue
        damage = channel.find_damage(path)
        if damage is not None:
            yield FoundPackage(path, damage)
        else:
            told = read_info(path, MANIFEST_FILE)
            yield FoundPackage(path, None, read_package_digest(path), told, read_interface(path))


def _solve(
    output: RenderedOutput, own_names: Collection[str], inputs: PlanInputs
) -> dict[str, Sequence[SolvedPackage]]:
    environments = solve_environments(output, own_names, inputs.solve)
    return {"build": environments.build.packages, "host": environments.host.packages}


def required_names(output: RenderedOutput) -> set[str]:
    """The names of all packages that `output` asks for."""
    sections = (output.requirements.build, output.requirements.host, output.requirements.run)
    return {spec.split()[0] for section in sections for spec in section}
