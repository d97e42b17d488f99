"""Write CI pipelines from the recipe's matrix, and run the same jobs on this machine.

slipway ci write             GitHub Actions and GitLab, one job for each output and variant
slipway ci write --check     say whether the pipelines in the checkout are fresh
slipway ci list              the jobs, and what each of them needs
slipway ci run               all jobs here, as many at once as memory and cores allow
slipway ci job IDENTIFIER    one job, as CI runs it
slipway ci recipe IDENTIFIER one output alone as a recipe, for real conda-build
slipway ci truth             docs/solver-truth.md, from the table that tests ask the solver
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder, require_checkout
from slipway.base.errors import BuildError, UsageError
from slipway.base.platform import LINUX_64, usable_cpus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.journal import Journal
    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace
    from slipway.request import Request
    from slipway.workflows.graph import Job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options.

    What `recipe` needs must not import more than the renderer does: it runs on Windows, in conda's own Python.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = commands.add_parser

    write = add("write", help="write the pipelines", description="Write GitHub Actions and GitLab pipelines.")
    write.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    write.add_argument("--github", action="store_true", help="only GitHub's")
    write.add_argument("--gitlab", action="store_true", help="only GitLab's")
    write.add_argument("--check", action="store_true", help="write nothing; fail if a file is not fresh")
    write.add_argument(
        "--to", type=Path, default=default_folder(), metavar="DIR", help="the checkout (default: this one)"
    )
    write.add_argument("--settings", type=Path, metavar="FILE", help="platforms, runners and resources")

    listing = add("list", help="list the jobs", description="The jobs of every platform, in order.")
    listing.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    listing.add_argument("--settings", type=Path, metavar="FILE", help="platforms, runners and resources")
    listing.add_argument("--json", action="store_true", help="a list of objects")

    recipe = add("recipe", help="one output alone as a recipe", description="Write one output as a recipe.")
    recipe.add_argument("identifier", metavar="IDENTIFIER")
    recipe.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    recipe.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR")
    recipe.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder that is written")

    truth = add("truth", help="write the solver's truth table", description="Write docs/solver-truth.md.")
    truth.add_argument("--check", action="store_true", help="write nothing; fail if the page is not fresh")

    job = add("job", help="run one job", description="Run one job, as CI does.")
    run = add("run", help="run all jobs here", description="Run all jobs on this machine.")
    for building in (job, run):
        building.set_defaults(words=parser.get_default("words"))
        _add_building(building, one=building is job)


def _add_building(parser: argparse.ArgumentParser, *, one: bool) -> None:
    try:
        from slipway.commands._options import add_engine_arguments, add_request_arguments
    except ModuleNotFoundError:  # a system without fcntl: nothing is built there
        return
    if one:
        parser.add_argument("identifier", metavar="IDENTIFIER", help="as `slipway ci list` prints it")
        parser.add_argument("--handed", type=Path, required=True, metavar="DIR", help="packages of earlier jobs")
        parser.add_argument("--jobs", type=int, default=usable_cpus(), metavar="N", help="compilers to run at once")
    else:
        parser.add_argument("--jobs", type=int, default=usable_cpus(), metavar="N", help="jobs to run at once, at most")
        parser.add_argument("--memory", type=float, metavar="GB", help="memory to plan with (default: what is free)")
    add_engine_arguments(parser)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run one action; returns the exit code."""
    actions = {"write": _write, "list": _list, "recipe": _recipe, "truth": _truth, "job": _job, "run": _run}
    return actions[arguments.action](arguments, reporter)


def _write(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.workflows import files
    from slipway.workflows.matrix import make_matrix
    from slipway.workflows.settings import DEFAULT_SETTINGS, load_settings

    both = arguments.github == arguments.gitlab
    settings = load_settings(arguments.settings or DEFAULT_SETTINGS)
    matrix = make_matrix(arguments.recipe, arguments.to, settings, {})
    wanted = files.texts(matrix, for_github=both or arguments.github, for_gitlab=both or arguments.gitlab)
    return _write_or_check(wanted, arguments.to, reporter, check=arguments.check, command="slipway ci write")


def _write_or_check(wanted: Mapping[str, str], checkout: Path, reporter: Reporter, *, check: bool, command: str) -> int:
    from slipway.workflows import files

    old = files.stale(wanted, checkout)
    if not check:
        files.write(wanted, checkout)
    for name in wanted:
        reporter.line(f"{name}: {('not fresh' if check else 'written') if name in old else 'fresh'}")
    if check and old:
        raise UsageError(
            "not what its sources say", where=", ".join(old), hint=f"run `{command}` and commit the result"
        )
    return 0


def _truth(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.checkout.solver_truth import as_markdown, read_table

    source = "tests/integration/solver_truth.yaml"
    wanted = {"docs/solver-truth.md": as_markdown(read_table(require_checkout() / source), source=source)}
    return _write_or_check(wanted, require_checkout(), reporter, check=arguments.check, command="slipway ci truth")


def _list(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.base.text import format_table
    from slipway.workflows.graph import describe
    from slipway.workflows.matrix import make_matrix
    from slipway.workflows.settings import DEFAULT_SETTINGS, load_settings

    matrix = make_matrix(arguments.recipe, default_folder(), load_settings(arguments.settings or DEFAULT_SETTINGS), {})
    if arguments.json:
        print(json.dumps(describe(matrix.everything), indent=1))
        return 0
    rows = [
        (job.platform, job.identifier, ", ".join(other.identifier for other in job.direct) or "-")
        for job in matrix.everything
    ]
    print(format_table(("platform", "job", "needs"), rows))
    return 0


def _recipe(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.base.errors import VariantError
    from slipway.base.platform import find_platform
    from slipway.engines.conda_build_recipe import write_recipe
    from slipway.recipe import load_recipe, render
    from slipway.recipe.choose import identifier

    outputs = render(load_recipe(arguments.recipe), platform=find_platform(arguments.platform), environ={})
    found = [output for output in outputs if identifier(output) == arguments.identifier]
    if not found:
        raise VariantError(
            f"there is no job `{arguments.identifier}` on {arguments.platform}",
            hint=f"there is {', '.join(map(identifier, outputs))}; if that changed, run `slipway ci write`",
        )
    reporter.line(str(write_recipe(found[0], arguments.to)))
    return 0


def _job(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.base.text import human_seconds, human_size
    from slipway.commands._options import request_of
    from slipway.engines import load_engine
    from slipway.workflows.job import find_job, local_jobs, run_job

    request = request_of(arguments)
    engine = load_engine(arguments.engine)
    job = find_job(local_jobs(request), arguments.identifier)
    artifact = run_job(
        request, job, arguments.handed.resolve(), engine, reporter, jobs=arguments.jobs, rebuild=arguments.rebuild
    )
    took = "up to date" if artifact.reused else human_seconds(artifact.seconds)
    reporter.line(f"{job.file}  {human_size(artifact.size)}  {took}")
    return 0


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from slipway.base.paths import Workspace
    from slipway.commands._options import request_of
    from slipway.report.journaling import journaled_jobs
    from slipway.workflows.job import local_jobs

    request = request_of(arguments)
    if arguments.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    jobs = local_jobs(request)
    workspace = Workspace(request.workspace.dist / "ci")
    with workspace.lock(), journaled_jobs(workspace, "ci run", arguments.jobs) as events:
        return _walk(arguments, request, jobs, workspace, events, reporter)


def _walk(
    arguments: argparse.Namespace,
    request: Request,
    jobs: tuple[Job, ...],
    workspace: Workspace,
    events: Journal,
    reporter: Reporter,
) -> int:
    """Do the jobs and publish; a failure leaves the report of what was done."""
    from slipway.base.events import JobState
    from slipway.base.memory import available_memory
    from slipway.base.paths import PAGE
    from slipway.base.text import format_table, human_seconds, human_size
    from slipway.workflows.measured_memory import use_measured_memory
    from slipway.workflows.scheduler import LocalRun, Machine
    from slipway.workflows.settings import load_settings

    memory = available_memory() / 1e9 if arguments.memory is None else arguments.memory
    run = LocalRun(
        jobs=jobs,
        folder=workspace.dist,
        words=_shared_words(arguments),
        machine=Machine(memory, usable_cpus(), arguments.jobs),
        settings=use_measured_memory(load_settings(), workspace.dist, usable_cpus()),
        reporter=reporter,
        events=events,
    )
    results = run.run()
    rows = [
        (
            result.job.identifier,
            str(result.state),
            human_seconds(result.seconds) if result.seconds else "-",
            human_size(result.size) if result.size else "-",
        )
        for result in results
    ]
    reporter.line("")
    reporter.line(format_table(("job", "state", "time", "size"), rows, right=(2, 3)))
    reporter.line(f"report: {workspace.dist / PAGE}")
    failed = [result.job.identifier for result in results if result.state is JobState.FAILED]
    if failed:
        raise BuildError(
            f"{len(failed)} of {len(results)} jobs failed: {', '.join(failed)}", where=str(workspace.dist / "logs"),
            hint="nothing was published; run the same command again and it goes on from here",
        )  # fmt: skip
    return _publish(arguments, [run.handed / job.file for job in jobs], reporter)


def _publish(arguments: argparse.Namespace, packages: list[Path], reporter: Reporter) -> int:
    from slipway.base.paths import Workspace
    from slipway.commands import publish

    parser = argparse.ArgumentParser()
    publish.add_arguments(parser)
    target = Workspace.of_checkout(arguments.dist).channel
    words = ["--to", str(target), *map(str, packages)] + (["--dist", arguments.dist] if arguments.dist else [])
    return publish.execute(parser.parse_args(words), reporter)


def _shared_words(arguments: argparse.Namespace) -> list[str]:
    """The options of `run` that each of its jobs gets, too."""
    from slipway.commands._options import words_of

    return [*words_of(arguments), "--engine", arguments.engine, *(["--rebuild"] if arguments.rebuild else [])]
