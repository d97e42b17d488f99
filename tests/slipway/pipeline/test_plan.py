"""A plan is a value: made of outputs, what lies in the channels and what a solver says, without building anything."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, SolveError
from slipway.base.events import Reason
from slipway.base.platform import LINUX_64, Platform
from slipway.channel.environments import Solution
from slipway.channel.taken import SolvedPackage
from slipway.model import RECIPE_SETTINGS, RenderedOutput, Requirements
from slipway.pipeline.manifest import Manifest
from slipway.pipeline.plan import SHOWN_CHANGES, FoundPackage, Plan, PlanInputs, PlannedOutput, make_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from slipway.pipeline.solving import Solve

MakeOutput = Callable[..., RenderedOutput]


class FakeChannel:
    """Packages that are there, as a plan sees them: made from `planned`, or damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[str, list[FoundPackage]] = {}

    def __call__(self, output: RenderedOutput) -> Iterable[FoundPackage]:
        return self.found.get(output.key, [])

    def put(self, planned: PlannedOutput, damage: str | None = None) -> FoundPackage:
        """The package that building `planned` would give."""
        assert planned.manifest is not None
        path = self.folder / f"{planned.output.key}-{len(self.found)}.conda"
        manifest = Manifest.from_json(planned.manifest.to_json(), where="")
        package = FoundPackage(path, damage, *((None, None) if damage else (manifest.digest, manifest.to_json())))
        self.found.setdefault(planned.output.key, []).append(package)
        return package


def solver(**versions: str) -> Solve:
    """A solver that knows those packages, by name and version."""

    def solve(specs: tuple[str, ...], platform: Platform) -> Solution:
        assert platform == LINUX_64
        picked = []
        for name in (spec.split()[0] for spec in specs):
            if name not in versions:
                raise SolveError(f"there is no {name}")
            sha256 = hashlib.sha256(f"{name} {versions[name]}".encode()).hexdigest()
            picked.append(SolvedPackage(name, versions[name], "h_0", sha256, 1, f"https://c/{name}.conda"))
        return Solution(tuple(picked), ())

    return solve


@pytest.fixture
def channel(tmp_path: Path) -> FakeChannel:
    """An empty one."""
    return FakeChannel(tmp_path)


@pytest.fixture
def inputs(channel: FakeChannel) -> PlanInputs:
    """A solver that knows cmake and zlib."""
    return PlanInputs("rattler 1", solver(cmake="3.31", zlib="1.3"), channel)


@pytest.fixture
def outputs(make_output: MakeOutput) -> list[RenderedOutput]:
    """A library, and a program that needs it."""
    library = make_output("libtoy", requirements=Requirements(build=("cmake >=3",), host=("zlib",)))
    program = make_output("toy", requirements=Requirements(build=("cmake >=3",), host=("libtoy 1.0 *_0", "zlib")))
    return [library, program]


def reasons(plan: Plan) -> list[Reason]:
    """Of every output."""
    return [planned.reason for planned in plan.outputs]


def test_everything_is_new_at_first(outputs: list[RenderedOutput], inputs: PlanInputs) -> None:
    plan = make_plan(outputs, inputs)
    assert reasons(plan) == [Reason.NEW, Reason.NEW]
    assert [planned.output for planned in plan.outputs] == outputs
    assert all(planned.package is None and planned.changes == () for planned in plan.outputs)
    assert make_plan(outputs, inputs) == plan, "a plan is a value"


def test_later_outputs_need_the_digests_of_earlier_ones(outputs: list[RenderedOutput], inputs: PlanInputs) -> None:
    library, program = make_plan(outputs, inputs).outputs
    assert library.manifest is not None
    assert program.manifest is not None
    assert library.manifest.needed == {}
    assert program.manifest.needed == {"libtoy-1.0-h0123456_0": library.digest}
    assert set(program.manifest.environments["host"]) == {"zlib"}, "the solver is not asked for the recipe's own"


def test_what_was_made_from_the_same_is_taken(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel
) -> None:
    library, program = make_plan(outputs, inputs).outputs
    package = channel.put(library)
    plan = make_plan(outputs, inputs)
    assert reasons(plan) == [Reason.UP_TO_DATE, Reason.NEW]
    assert plan.outputs[0].package == package.path
    channel.put(program)
    assert reasons(make_plan(outputs, inputs)) == [Reason.UP_TO_DATE, Reason.UP_TO_DATE]
    assert reasons(make_plan(outputs, replace(inputs, rebuild=True))) == [Reason.REBUILT, Reason.REBUILT]


def test_a_change_is_named_and_reaches_what_needs_it(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel
) -> None:
    for planned in make_plan(outputs, inputs).outputs:
        channel.put(planned)
    with (outputs[0].recipe_dir / "build.sh").open("a", encoding="utf-8") as stream:
        stream.write("echo more\n")
    library, program = make_plan(outputs, inputs).outputs
    assert (library.reason, library.changes) == (Reason.CHANGED, ("recipe file build.sh: edited",))
    assert (program.reason, program.changes) == (Reason.CHANGED, ("needs libtoy-1.0-h0123456_0: changed",))
    moved = replace(inputs, solve=solver(cmake="3.31", zlib="1.4"))
    assert "host zlib: 1.3 h_0 -> 1.4 h_0" in make_plan(outputs, moved).outputs[1].changes


def test_what_only_links_waits_for_the_interface(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel, make_output: MakeOutput
) -> None:
    library, program = outputs
    (program.recipe_dir / RECIPE_SETTINGS).write_text("links:\n  toy: [libtoy]\n", encoding="utf-8")
    top = make_output("top", requirements=Requirements(run=("toy 1.0",)))
    three = [library, program, top]

    def put(interface: str | None) -> None:
        channel.found[library.key] = []
        channel.put(make_plan(three, inputs).outputs[0])
        channel.found[library.key][0] = replace(channel.found[library.key][0], interface=interface)

    put("one")
    for planned in make_plan(three, inputs).outputs[1:]:
        channel.put(planned)
    plan = make_plan(three, inputs)
    assert reasons(plan) == [Reason.UP_TO_DATE] * 3
    assert plan.outputs[1].manifest is not None
    assert plan.outputs[1].manifest.needed == {library.key: "interface one"}
    with (library.recipe_dir / "build.sh").open("a", encoding="utf-8") as stream:
        stream.write("echo more\n")
    plan = make_plan(three, inputs)
    assert reasons(plan) == [Reason.CHANGED, Reason.DEPENDS, Reason.DEPENDS]
    assert [planned.reason.builds for planned in plan.outputs] == [True, False, False]
    assert plan.outputs[1].changes == (f"needs {library.key}: built again if that comes with another interface",)
    assert plan.outputs[2].changes == (f"needs {program.key}: built again if that is",)
    put("one")
    assert reasons(make_plan(three, inputs)) == [Reason.UP_TO_DATE] * 3
    put("two")
    plan = make_plan(three, inputs)
    assert reasons(plan) == [Reason.UP_TO_DATE, Reason.CHANGED, Reason.CHANGED]
    assert plan.outputs[1].changes == (f"needs {library.key}: its interface changed",)
    put(None)
    assert make_plan(three, inputs).outputs[1].changes == (f"needs {library.key}: changed",)


def test_an_interrupted_run_left_the_newer_one_behind(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel
) -> None:
    channel.put(make_plan(outputs, inputs).outputs[0])
    (outputs[0].recipe_dir / "LICENSE").write_text("Another.\n", encoding="utf-8")
    proved = channel.put(make_plan(outputs, inputs).outputs[0])
    assert make_plan(outputs, inputs).outputs[0].package == proved.path


def test_a_damaged_package_is_built_again(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel
) -> None:
    damaged = channel.put(make_plan(outputs, inputs).outputs[0], damage="its bytes are wrong")
    library = make_plan(outputs, inputs).outputs[0]
    assert (library.reason, library.damaged) == (Reason.CHANGED, (damaged.path,))
    assert library.changes == (f"{damaged.path}: its bytes are wrong",)


@pytest.mark.parametrize(
    ("manifest", "change"),
    [(None, "does not say what it was made from"), (b"{", "what the package was made from cannot be read")],
)
def test_a_package_of_unknown_making(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel, manifest: bytes | None, change: str
) -> None:
    channel.found[outputs[0].key] = [FoundPackage(channel.folder / "a.conda", None, "abc", manifest)]
    library = make_plan(outputs, inputs).outputs[0]
    assert library.reason is Reason.CHANGED
    assert change in library.changes[0]


def test_handed_on_packages_are_taken_as_they_are(
    outputs: list[RenderedOutput], inputs: PlanInputs, channel: FakeChannel
) -> None:
    only = replace(inputs, only=frozenset({outputs[1].key}))
    with pytest.raises(ChannelError, match="is needed, and not there"):
        make_plan(outputs, only)
    path = channel.folder / "a.conda"
    for found, problem in (
        (FoundPackage(path), "says not what it is made from"),
        (FoundPackage(path, "its bytes are wrong"), "its bytes are wrong"),
    ):
        channel.found[outputs[0].key] = [found]
        with pytest.raises(ChannelError, match=problem) as caught:
            make_plan(outputs, only)
        assert caught.value.where == str(path)
    channel.found[outputs[0].key] = [FoundPackage(path, None, "abc")]
    library, program = make_plan(outputs, only).outputs
    assert (library.reason, library.package) == (Reason.HANDED_ON, path)
    assert program.manifest is not None
    assert program.manifest.needed == {outputs[0].key: "abc"}


def test_of_many_changes_the_first_are_shown(outputs: list[RenderedOutput]) -> None:
    changes = tuple(f"change {number}" for number in range(SHOWN_CHANGES + 2))
    planned = PlannedOutput(outputs[0], Reason.CHANGED, "abc", changes=changes)
    assert planned.shown_changes == (*changes[:SHOWN_CHANGES], "and 2 more")
    assert replace(planned, changes=changes[:2]).shown_changes == changes[:2]


def test_what_the_variant_does_not_use_changes_nothing(outputs: list[RenderedOutput], inputs: PlanInputs) -> None:
    def digests(variant: Mapping[str, str]) -> list[str]:
        plan = make_plan([replace(output, variant={**output.variant, **variant}) for output in outputs], inputs)
        return [planned.digest for planned in plan.outputs]

    assert digests({"python": "3.11.* *_cpython"}) == digests({"python": "3.12.* *_cpython"})
