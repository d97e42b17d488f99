"""Carries a plan out: what is new is built, packed, judged and kept as proved; in the end all is published together.

A package that is up to date is taken as it lies, in the channel or, where an earlier run was interrupted, among the
proved ones. Only a whole run's packages are published, in one step.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slipway.base.cache_room import VARIABLE, trim_now_and_then
from slipway.base.errors import RecipeWarning
from slipway.base.events import Decided, Packaged, Reason, Stage, StageKey
from slipway.base.memory import available_memory
from slipway.base.text import human_seconds, human_size
from slipway.base.user_folders import cache_folder
from slipway.channel.folder import Channel
from slipway.channel.package import read_paths
from slipway.engines.engine import BuildContext
from slipway.model import Artifact, RenderedOutput
from slipway.observe.history import expected_seconds, jobs_for
from slipway.pipeline.interface import read_interface
from slipway.pipeline.judgement import judge_new, judge_reused, look_at, verifier_of
from slipway.pipeline.packing import finish_package
from slipway.pipeline.plan import PlanInputs, PlannedOutput, make_plan, plan_output, required_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from slipway.base.log import Task
    from slipway.pipeline.context import RunContext
    from slipway.pipeline.judgement import Seen
    from slipway.pipeline.manifest import Manifest


def run(outputs: Sequence[RenderedOutput], context: RunContext, *, publish: bool = True) -> list[Artifact]:
    """Bring every output up to date, in the order given; then publish what the channel does not have.

    Raises:
        BuildError, SolveError: see `slipway.engines.engine.Engine.build`.
        VerifyError: a package breaks a policy; nothing of this run is published.
    """
    _open_channels(context)
    inputs = context.plan_inputs()
    with context.reporter.step(Stage(StageKey.PLAN)):
        plan = make_plan(outputs, inputs)
    with _whole(plan.outputs, context) as whole:
        artifacts = _bring_up_to_date(outputs, plan.outputs, context, inputs, whole)
    if publish:
        artifacts = _publish_all(artifacts, context)
    if removed := trim_now_and_then(cache_folder(context.environ), context.environ):
        context.reporter.line(f"the cache is larger than {VARIABLE} allows: {human_size(removed)} removed from it")
    return artifacts


@contextmanager
def _whole(planned: Sequence[PlannedOutput], context: RunContext) -> Iterator[Whole]:
    """The progress of all builds together, where earlier ones say how long they take."""
    building = [one.output for one in planned if one.reason.builds]
    seconds = expected_seconds(context.workspace.dist / "logs", [output.name for output in building])
    if not seconds:
        yield Whole(None, {})
        return
    with context.reporter.task("all packages", total=round(sum(seconds)) or 1, unit="seconds") as task:
        yield Whole(task, {output.key: one for output, one in zip(building, seconds, strict=True)})


@dataclass
class Whole:
    """The progress of a run: `expected` seconds for each output that is built."""

    task: Task | None
    expected: Mapping[str, float]
    passed: float = 0.0

    def built(self, key: str) -> None:
        """An output is done."""
        if self.task is not None and key in self.expected:
            self.passed += self.expected[key]
            self.task.update(completed=round(self.passed))


def _bring_up_to_date(
    outputs: Sequence[RenderedOutput],
    plan: Sequence[PlannedOutput],
    context: RunContext,
    inputs: PlanInputs,
    whole: Whole,
) -> list[Artifact]:
    own_names = {output.name for output in outputs}
    done: list[PlannedOutput] = []
    artifacts: list[Artifact] = []
    for position, planned in enumerate(plan, start=1):
        with context.reporter.step(Stage(StageKey.OUTPUT, planned.output.key, position, len(plan))):
            if any(before.reason.builds for before in done):  # which took its time: files may have been edited
                with context.journal.stage(Stage(StageKey.PLAN, planned.output.key)):
                    planned = plan_output(planned.output, done, own_names, inputs)
            context.journal.add(Decided(planned.output.key, planned.reason, planned.shown_changes))
            artifact = (
                _build(planned, artifacts, context) if planned.reason.builds else _reuse(planned, artifacts, context)
            )
        if artifact.reused:
            judge_reused(artifact, artifacts, context)
        context.journal.add(_describe(artifact))
        done.append(replace(planned, package=artifact.path, interface=read_interface(artifact.path)))
        artifacts.append(artifact)
        whole.built(planned.output.key)
    return artifacts


def _open_channels(context: RunContext) -> None:
    """See to it that the channel has a whole index, and forget what an earlier run left in its session."""
    context.session.delete()
    if context.published.is_indexed:
        return
    if context.published.folder.exists():
        context.reporter.line("the channel's index is damaged: it is written again")
    for path in context.published.repair():
        context.reporter.line(f"a package of it is damaged, too: it is now {path.name}")


def _reuse(planned: PlannedOutput, earlier: Sequence[Artifact], context: RunContext) -> Artifact:
    """Take the package as it lies; where it stands on packages that are not published yet, test it with them."""
    output = planned.output
    assert planned.package is not None
    same = ": made from the same sources, recipe and environments"
    context.reporter.line(f"{planned.reason}{same if planned.reason is Reason.UP_TO_DATE else ''}")
    if new := [one for one in _below(output, earlier) if one.path.is_relative_to(context.proved.folder)]:
        names = ", ".join(one.output.name for one in new)
        context.reporter.line(f"the interface of what it links is unchanged; tested with the new {names}")
        _hand_over(output, earlier, context)
        context.engine.test(planned.package, output, _build_context(planned, context), context.reporter)
    return _measure(output, planned.package, 0.0, reused=True)


def _below(output: RenderedOutput, earlier: Sequence[Artifact]) -> list[Artifact]:
    """What an output requires of the earlier ones, and what those do."""
    names, found = required_names(output), list[Artifact]()
    for artifact in reversed(earlier):
        if artifact.output.name in names:
            found.append(artifact)
            names |= required_names(artifact.output)
    return found[::-1]


def _hand_over(output: RenderedOutput, earlier: Sequence[Artifact], context: RunContext) -> None:
    """Put the run's packages so far where builds and tests find them."""
    with context.journal.stage(Stage(StageKey.HAND_OVER, output.key)):
        context.session.publish((artifact.output.subdir, artifact.path) for artifact in earlier)


def _build(planned: PlannedOutput, earlier: Sequence[Artifact], context: RunContext) -> Artifact:
    """Build the package, pack it, judge it, and keep it among the proved ones.

    While its tests run, it is packed and looked at: whatever the one finds, the other ends before anything is said.
    """
    output, manifest = planned.output, planned.manifest
    assert manifest is not None
    started = time.monotonic()
    context.reporter.line(f"{planned.reason}; log: {context.workspace.log(output.key)}")
    for change in planned.shown_changes:
        context.reporter.line(f"  {change}")
    for path in planned.damaged:  # nobody may install it meanwhile, nor compare the new one with it
        Channel(path.parents[1]).publish(without=[path])
    stage = context.journal.stage  # these are in the report; on the terminal they would be noise
    _hand_over(output, earlier, context)
    judge = verifier_of(output, context)
    with ThreadPoolExecutor(1, "beside-tests") as beside:
        finished: Future[None]
        seen: Future[Seen]

        def finish_beside(package: Path) -> None:
            nonlocal finished, seen
            finished = beside.submit(_finish, package, manifest)
            seen = beside.submit(look_at, output, package, judge, context)

        within = replace(_build_context(planned, context), on_built=finish_beside)
        built = context.engine.build(output, within, context.reporter)
        with stage(Stage(StageKey.FINISH, output.key)):
            finished.result()
        _warn_of_nothing(output, built)
        judge_new(output, built, judge, seen.result, earlier, context)
    with stage(Stage(StageKey.KEEP, output.key)):
        context.proved.publish([(output.subdir, built)])
        built.unlink()
    proved = context.proved.path_of(output.subdir, output.key)
    artifact = _measure(output, proved, time.monotonic() - started, reused=False)
    context.reporter.line(f"built in {human_seconds(artifact.seconds)}, {human_size(artifact.size)}")
    return artifact


def _finish(package: Path, manifest: Manifest) -> None:
    finish_package(package, manifest)
    package.chmod(0o644)  # the engine makes it readable for us alone; a channel is for everyone


def _warn_of_nothing(output: RenderedOutput, built: Path) -> None:
    if (output.script or output.script_commands) and not read_paths(built):
        said = RecipeWarning(
            f"`{output.key}` holds no file, though it has a script",
            where=str(output.recipe_path),
            hint="install into $PREFIX; a package that only requires others needs no script",
            code="empty-package",
        )
        warnings.warn(said, stacklevel=2)


def _build_context(planned: PlannedOutput, context: RunContext) -> BuildContext:
    return BuildContext(
        workspace=context.workspace,
        channels=context.build_channels,
        digest=planned.digest,
        staging=planned.manifest.staging_digest if planned.manifest is not None else None,
        environ=context.environ,
        jobs=_fitting_jobs(planned.output, context),
        journal=context.journal,
        isolation=context.isolation,
    )


def _fitting_jobs(output: RenderedOutput, context: RunContext) -> int:
    """As many compilers as asked for, or fewer where those of the last build would not fit into memory."""
    free = available_memory()
    jobs = jobs_for(context.workspace.dist / "logs", output.name, context.jobs, free)
    if jobs < context.jobs:
        context.reporter.line(f"{jobs} of {context.jobs} compilers at once: more did not fit into {human_size(free)}")
    return jobs


def _publish_all(artifacts: Sequence[Artifact], context: RunContext) -> list[Artifact]:
    """Put what was proved into the channel, in one step; returns the packages as they lie there."""
    channel = context.published
    waiting = [artifact for artifact in artifacts if not artifact.path.is_relative_to(channel.folder)]
    if waiting:
        with context.reporter.step(Stage(StageKey.PUBLISH, str(channel.folder), count=len(waiting))):
            channel.publish((artifact.output.subdir, artifact.path) for artifact in waiting)
    for scratch in (context.proved, Channel(context.workspace.staged), context.session):
        scratch.delete()
    return [replace(one, path=channel.path_of(one.output.subdir, one.output.key)) for one in artifacts]


def _measure(output: RenderedOutput, path: Path, seconds: float, *, reused: bool) -> Artifact:
    content = path.read_bytes()
    return Artifact(output, path, hashlib.sha256(content).hexdigest(), len(content), seconds, reused)


def _describe(artifact: Artifact) -> Packaged:
    path = f"{artifact.output.subdir}/{artifact.path.name}"
    return Packaged(artifact.output.key, path, artifact.size, artifact.sha256, artifact.seconds, artifact.reused)
