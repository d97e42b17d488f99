"""Test packages of dist/channel where nothing of the host can help: their own tests, and consumers built from them.

    slipway cleanroom                        the torch packages, and this checkout's consumers
    slipway cleanroom NAME... [--project D]  the tests that other packages carry, and D, built by its own build.sh

Each package is installed into an empty prefix, with what its tests require, and locked into a root file system that has
a shell, the tools of POSIX, glibc, and nothing else: no home, no network. A script looks for the host's compilers,
Pythons, headers and libraries in there first, and fails the test if it sees one.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import require_checkout
from slipway.base.errors import ChannelError, TestsFailedError, UsageError
from slipway.base.paths import Workspace
from slipway.base.platform import LINUX_64, find_platform, this_platform
from slipway.base.text import format_table, human_seconds
from slipway.bootstrap.embedded import channels_of
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.cleanroom import ACTIVATE, CleanRoom, carried_tests, environment_of, proof_script
from slipway.commands.verify import embedded_variant
from slipway.engines.emulation import find_emulation
from slipway.verify.verifier import Verifier

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slipway.base.log import Reporter
    from slipway.base.platform import Platform
    from slipway.engines.emulation import Emulation

TORCH = ("libtorch", "pytorch")
"""What is tested when nothing is named."""

CONSUMERS = ("program", "extension")
"""Folders below tests/integration/consumers."""

BUILT_WITH = ("cmake", "ninja", "setuptools", "pybind11", "python 3.11.*")
"""What they are built with, beside the compilers."""


@dataclass(frozen=True)
class Trial:
    """One stay in the room.

    Attributes:
        specs: what the environment is made of.
        script: what is run, in `project` (copied into the room), or else in `folder` below the prefix.
        tools: what runs on this machine, where the environment is another platform's.
    """

    title: str
    specs: tuple[str, ...]
    script: str
    folder: str = ""
    project: Path | None = None
    tools: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages of the channel (default: the torch ones)")
    parser.add_argument(
        "--project",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help="build and run this consumer, too: its build.sh, in a copy of it",
    )
    parser.add_argument(
        "--with", action="append", dest="extra", default=[], metavar="SPEC", help="what projects need beside packages"
    )
    parser.add_argument("--network", action="store_true", help="let tests and projects use the network")
    parser.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR",
                        help="of the packages; another one is emulated (%(default)s)")  # fmt: skip
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("-c", "--channel", action="append", metavar="URL", help="as for `slipway ship`")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Install, lock in, test; returns the exit code."""
    workspace = Workspace.of_checkout(arguments.dist)
    target = find_platform(arguments.platform)
    trials = _trials(arguments, workspace, target)
    variant = _embedded_variant(arguments.names, workspace, target) | {"target_platform": target.subdir}
    own = Channel(workspace.channel)
    needs = [spec for trial in trials for spec in (*trial.specs, *trial.tools)]
    others = channels_of(arguments.channel, variant, reporter, needs=needs, own=own, offline=arguments.offline)
    channels = (own.url, *others)
    rows = []
    emulation = find_emulation(target, channels, os.environ, reporter) if target != this_platform() else None
    with workspace.lock():
        for trial in trials:
            started = time.monotonic()
            with reporter.step(trial.title):
                where = TrialPlace(workspace, channels, target, emulation, network=arguments.network)
                passed = _run_trial(trial, where, reporter)
            rows.append((trial.title, "passed" if passed else "FAILED", human_seconds(time.monotonic() - started)))
    reporter.line(format_table(("what", "result", "time"), rows, right=(2,)))
    return TestsFailedError.exit_code if any(result != "passed" for _, result, _ in rows) else 0


def _trials(arguments: argparse.Namespace, workspace: Workspace, target: Platform) -> list[Trial]:
    names = tuple(arguments.names) or TORCH
    projects = [path.resolve() for path in arguments.project]
    extra = tuple(arguments.extra)
    if not arguments.names and not projects and target == this_platform():
        projects = [require_checkout() / "tests/integration/consumers" / name for name in CONSUMERS]
        extra += (*(f"{name}_{target}" for name in ("gcc", "gxx", "sysroot")), *BUILT_WITH)
    trials = []
    for name in names:
        tests = carried_tests(_newest(workspace, name, target), name)
        if not tests:
            raise UsageError(f"`{name}` carries no tests", hint="give its output a `test` section in the recipe")
        for test in tests:
            script = "\n".join(test.commands)
            tools = test.tools if target != this_platform() else ()
            trials.append(Trial(f"{name}: its own tests", (name, *test.requires), script, test.folder, tools=tools))
    for project in projects:
        if not (project / "build.sh").is_file():
            raise UsageError("the project has no build.sh", where=str(project))
        title = f"{project.name}: built from the installed packages"
        trials.append(Trial(title, (*names, *extra), "bash ./build.sh", project=project))
    return trials


def _embedded_variant(names: Sequence[str], workspace: Workspace, target: Platform) -> dict[str, str]:
    """The part of the embedded channel that the packages ask for, each for what those before it leave open."""
    verifier = Verifier()
    asked: dict[str, str] = {}
    for name in names or TORCH:
        asked = embedded_variant(verifier.facts(_newest(workspace, name, target))) | asked
    return asked


def _newest(workspace: Workspace, name: str, target: Platform) -> Path:
    found = [path for path in Channel(workspace.channel).packages(name) if path.parent.name in target.subdirs]
    if not found:
        raise ChannelError(f"`{name}` is not in the channel", where=str(workspace.channel), hint="`slipway ship` first")
    return max(found, key=lambda path: path.stat().st_mtime)


@dataclass(frozen=True)
class TrialPlace:
    """What all trials have in common; `emulation` is of `target`, where that is not this platform."""

    workspace: Workspace
    channels: tuple[str, ...]
    target: Platform
    emulation: Emulation | None
    network: bool


def _run_trial(trial: Trial, where: TrialPlace, reporter: Reporter) -> bool:
    """Make the environment and the room, look for the host in it, then run the trial; whether all went well."""
    folder = where.workspace.work / "cleanroom"
    prefix, project = folder / "prefix", folder / "project"
    tools = folder / "tools-prefix" if trial.tools else None
    for stale in (prefix, project, folder / "tools-prefix"):
        shutil.rmtree(stale, ignore_errors=True)
    install(solve(trial.specs, where.channels, platform=where.target), prefix, reporter)
    shared = [prefix]
    if tools is not None:
        install(solve(trial.tools, where.channels), tools, reporter)
        shared.append(tools)
    if where.emulation is not None:
        shared.append(where.emulation.prefix)
    if trial.project is not None:
        shutil.copytree(trial.project, project)
        shared.append(project)
    platform = this_platform()
    room = CleanRoom(folder, shared, platform)
    steps = (
        ("what the host left", proof_script(prefix, platform, *shared[1:])),
        (trial.title, ACTIVATE + trial.script),
    )
    for title, script in steps:
        log = where.workspace.log(f"cleanroom-{title}")
        with reporter.task(title) as task:
            completed = room.run(
                script,
                cwd=project if trial.project is not None else prefix / trial.folder,
                env=environment_of(prefix, tools),
                what=title,
                log=log,
                network=where.network,
                emulation=where.emulation,
                on_line=lambda line, task=task: task.update(text=line[:100]),  # type: ignore[misc]
            )
        if completed.returncode != 0:
            reporter.line("\n".join(completed.tail))
            reporter.line(f"{title}: failed; the whole output: {log}")
            return False
        if completed.tail:
            reporter.line(completed.tail[-1][:110])
    return True
