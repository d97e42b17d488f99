"""Test packages of dist/channel where nothing of the host can help: their own tests, and consumers built from them.

    slipway cleanroom                        the torch packages, and this checkout's consumers
    slipway cleanroom NAME... [--project D]  the tests that other packages carry; D is built by its own `build.sh`

Each package is installed into an empty prefix, with what its tests require, and locked into a root file system that has
a shell, the tools of POSIX, glibc, and nothing else.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.errors import ChannelError, TestsFailedError

if TYPE_CHECKING:
    import argparse

    from slipway.cleanroom import PackageTest
    from slipway.log import Reporter
    from slipway.paths import Workspace

TORCH = ("libtorch", "pytorch")

DEVELOPMENT = ("gcc_linux-64", "gxx_linux-64", "sysroot_linux-64", "cmake", "ninja", "setuptools", "python 3.11.*")

CONSUMERS = ("program", "extension")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages of the channel (default: the torch ones)")
    parser.add_argument("--project", action="append", type=Path, default=[], metavar="DIR",
                        help="build and run this consumer, too: DIR/build.sh is run in a copy of it")  # fmt: skip
    parser.add_argument("--with", action="append", dest="extra", default=[], metavar="SPEC",
                        help="what the projects need beside the packages")  # fmt: skip
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Install, lock in, test; returns the exit code."""
    from slipway import channel
    from slipway.cleanroom import carried_tests
    from slipway.console import format_table, human_seconds
    from slipway.paths import CHECKOUT, Workspace
    from slipway.request import Selection, embedded_channel
    from slipway.verify.policies import load_policies

    workspace = Workspace.of_checkout(arguments.dist)
    names = tuple(arguments.names) or TORCH
    projects = [path.resolve() for path in arguments.project]
    extra = list(arguments.extra)
    if not arguments.names and not projects:
        projects = [CHECKOUT / "tests/integration/consumers" / name for name in CONSUMERS]
        extra += DEVELOPMENT
    packages = {name: _newest(workspace, name) for name in names}
    embedded = embedded_channel(Selection("3.11", None, None), reporter, offline=arguments.offline)
    channels = (channel.channel_url(workspace.channel), embedded.url)
    limits = load_policies().archive
    rows: list[tuple[str, str, str]] = []
    with workspace.lock():
        room = _Room(workspace, channels, reporter)
        for name, path in packages.items():
            for test in carried_tests(path, name, limits):
                rows.append(_timed(f"{name}: its own tests", lambda test=test: room.package_test(test), human_seconds))
        for project in projects:
            title = f"{project.name}: built from the installed packages"
            run = lambda project=project: room.project(project, [*names, *extra])  # noqa: E731 - bound to this project
            rows.append(_timed(title, run, human_seconds))
    reporter.line(format_table(("what", "result", "time"), rows, right=(2,)))
    return TestsFailedError.exit_code if any(result != "passed" for _, result, _ in rows) else 0


def _timed(title, run, human_seconds):  # type: ignore[no-untyped-def]
    started = time.monotonic()
    passed = run()
    return title, "passed" if passed else "FAILED", human_seconds(time.monotonic() - started)


def _newest(workspace: Workspace, name: str) -> Path:
    found = [
        path
        for path in workspace.channel.glob("*/*.conda")
        if path.name.rsplit("-", 2)[0] == name
    ]
    if not found:
        raise ChannelError(f"`{name}` is not in the channel", where=str(workspace.channel), hint="`slipway ship` first")
    return max(found, key=lambda path: path.stat().st_mtime)


class _Room:
    """The environment and the room of one test at a time."""

    def __init__(self, workspace: Workspace, channels: tuple[str, ...], reporter: Reporter) -> None:
        self.workspace = workspace
        self.channels = channels
        self.reporter = reporter
        self.folder = workspace.work / "cleanroom"

    def package_test(self, test: PackageTest) -> bool:
        """Install a package and what its test requires into an empty prefix, and run the test in the room."""
        prefix = self.folder / "prefix"
        script = "".join(f"{line}\n" for line in test.commands)
        return self._run(test.package, (test.package, *test.requires), script, lambda: prefix / test.folder)

    def project(self, project: Path, specs: list[str]) -> bool:
        """Copy a project, and build and run it in the room."""

        def copied() -> Path:
            work = self.folder / "project"
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(project, work)
            return work

        return self._run(project.name, tuple(specs), "bash ./build.sh", copied)

    def _run(self, title: str, specs: tuple[str, ...], script: str, folder) -> bool:  # type: ignore[no-untyped-def]
        from slipway.cleanroom import ACTIVATE, CleanRoom, environment_of, proof_script
        from slipway.environments import install, solve

        prefix = self.folder / "prefix"
        with self.reporter.step(title):
            shutil.rmtree(prefix, ignore_errors=True)
            install(solve(list(specs), self.channels), prefix, self.reporter)
            work = folder()
            room = CleanRoom(self.folder, (prefix, *([work] if not work.is_relative_to(prefix) else [])))
            environment = environment_of(prefix)
            log = self.workspace.log(f"cleanroom-{title}")
            with self.reporter.task(title) as task:
                for part in (proof_script(prefix), ACTIVATE + script):
                    completed = room.run(
                        part, cwd=work, env=environment, what=title, log=log,
                        on_line=lambda line: task.update(text=line[:100]),
                    )  # fmt: skip
                    if completed.returncode != 0:
                        self.reporter.line("\n".join(completed.tail))
                        self.reporter.line(f"{title} failed; its whole output: {log}")
                        return False
                    if part is not script and completed.tail:
                        self.reporter.line(completed.tail[-1][:200])
        return True
