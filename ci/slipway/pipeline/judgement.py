"""What a run holds its packages to before they are published: the policies, and each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import VerifyError
from slipway.base.events import Stage, StageKey
from slipway.base.platform import LINUX_64
from slipway.channel.environments import Solution, solve
from slipway.channel.folder import Channel
from slipway.channel.package import read_paths
from slipway.recipe import load_recipe_settings
from slipway.recipe.defaults import target_of
from slipway.verify import policies, verifier
from slipway.verify.findings import format_findings, has_errors, shared_files, shared_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from slipway.model import Artifact, RenderedOutput
    from slipway.pipeline.context import RunContext
    from slipway.verify.facts import PackageFacts
    from slipway.verify.surroundings import Surroundings

    Seen = tuple[PackageFacts, Surroundings]


def policies_of(recipe: Path) -> policies.Policies:
    """What packages of a recipe are held to: see `RecipeSettings.policies`."""
    own = load_recipe_settings(recipe).policies
    return policies.load_policies(recipe / own if own is not None else None)


def verifier_of(output: RenderedOutput, context: RunContext) -> verifier.Verifier:
    """What judges packages of `output`."""
    return verifier.Verifier(policies_of(output.recipe_dir), environ=context.environ)


def look_at(output: RenderedOutput, path: Path, judge: verifier.Verifier, context: RunContext) -> Seen:
    """What a package that was just built holds, and what it would be installed beside; nothing is said of it yet."""
    facts = judge.facts(path)
    environment = _solve_around(output, path, context)
    return facts, judge.surroundings(environment.packages, facts, previous_in=context.workspace.channel)


def judge_new(
    output: RenderedOutput,
    path: Path,
    judge: verifier.Verifier,
    look: Callable[[], Seen],
    earlier: Sequence[Artifact],
    context: RunContext,
) -> None:
    """Judge a package that was just built, by the policies and beside the other packages of the run.

    Args:
        look: what waits for `look_at`, which takes its time.

    Raises:
        VerifyError: it breaks a policy, or installs a file that another output's package installs, too.
    """
    with context.reporter.step(Stage(StageKey.VERIFY, output.key)):
        facts, around = look()
        findings = judge.judge(facts, around)
        findings += shared_files(facts, {other.path.name: read_paths(other.path) for other in _others(output, earlier)})
        for finding in findings:
            context.journal.add(finding)
    if has_errors(findings):
        raise VerifyError(
            f"`{output.key}` breaks a policy, so it is not published",
            where=str(path),
            hint="the findings are above; the package is kept for a look",
            detail=format_findings(findings),
        )
    if findings:
        context.reporter.line(format_findings(findings))


def judge_reused(artifact: Artifact, earlier: Sequence[Artifact], context: RunContext) -> None:
    """A package that is reused was judged when other packages were beside it: it must go with the new ones, too.

    Raises:
        VerifyError: it installs a file that a package which is not published yet installs, too, or is such a package
            itself. That one is forgotten, so that it is built again.
    """
    findings, forgotten = [], []
    for other in _others(artifact.output, earlier):
        unpublished = [one.path for one in (artifact, other) if one.path.is_relative_to(context.proved.folder)]
        if unpublished:
            shared = shared_paths(
                artifact.output.name, read_paths(artifact.path), {other.path.name: read_paths(other.path)}
            )
            findings += shared
            forgotten += unpublished if shared else []
    if findings:
        context.proved.publish(without=forgotten)
        for finding in findings:
            context.journal.add(finding)
        raise VerifyError(
            f"`{artifact.output.key}` does not go with a new package, so nothing is published",
            where=str(artifact.path),
            hint="the findings are above",
            detail=format_findings(findings),
        )


def _others(output: RenderedOutput, artifacts: Sequence[Artifact]) -> list[Artifact]:
    """Variants of one output replace each other and may share files; different outputs are installed together."""
    return [artifact for artifact in artifacts if artifact.output.name != output.name]


def _solve_around(output: RenderedOutput, path: Path, context: RunContext) -> Solution:
    """What the solver picks around the package at `path`."""
    trial = Channel(context.workspace.work / "trial")
    trial.delete()
    trial.publish([(output.subdir, path)])
    spec = f"{output.name} {output.version} {output.build_string}"
    target = target_of(output.variant, LINUX_64)
    solution = solve([spec], (trial.url, *context.build_channels), platform=target)
    trial.delete()
    return solution
