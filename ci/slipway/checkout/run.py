"""One run of `slipway test`: what a part is, and what all parts do alike."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.checkout import require_checkout
from slipway.base.errors import SlipwayError
from slipway.checkout.testing import PartResult, count_results, ensure_test_tools

if TYPE_CHECKING:
    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace

Rooms = Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class Part:
    """One line of the closing table.

    Attributes:
        run: does some of the rooms.
        rooms: the files and folders of each; a part that is all or nothing has none.
        asked: it runs only where it is asked for by name.
    """

    run: Callable[[TestRun, Rooms], PartResult]
    rooms: Rooms = field(default_factory=dict)
    asked: bool = False


class TestRun:
    """What the parts of one run share: where, how loud, and whether the packages are there yet."""

    __test__ = False  # no class of tests

    def __init__(self, workspace: Workspace, reporter: Reporter, expression: str | None) -> None:
        self.workspace = workspace
        self.reporter = reporter
        self.expression = expression
        self.shipped = False

    def prepare(self) -> None:
        """Install the tools that tests need.

        Raises:
            NetworkError: they cannot be had.
        """
        with self.reporter.step("test tools"):
            ensure_test_tools(self.workspace)

    def part(self, name: str, part: Part, rooms: Sequence[str]) -> tuple[PartResult, float]:
        """Run these rooms of a part; what came out, and how many seconds it took."""
        started = time.monotonic()
        with self.reporter.step(name):
            try:
                result = part.run(self, {room: part.rooms[room] for room in rooms})
            except SlipwayError as error:
                self.reporter.line("\n".join(filter(None, (error.detail, f"error: {error.message}", error.where))))
                result = PartResult(0, 1)
        return result, time.monotonic() - started

    def program(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> bool:
        """Run one checking program, its output kept and, when it fails, shown; whether it succeeded."""
        with self.reporter.task(name) as task:

            def take(line: str) -> None:
                on_line(line)
                task.update(text=line[:100])

            completed = proc.run(
                command,
                env=env if env is not None else development_environment(),
                what=name,
                cwd=cwd or require_checkout(),
                log=self.workspace.log(f"test-{name}"),
                on_line=take,
                check=False,
            )
        if completed.returncode != 0:
            self.reporter.line("\n".join(completed.tail))
            self.reporter.line(f"{name} failed; its whole output: {self.workspace.log(f'test-{name}')}")
        return completed.returncode == 0

    def pytest(
        self,
        name: str,
        paths: Sequence[Path],
        *,
        python: Path | None = None,
        env: Mapping[str, str] | None = None,
        options: Sequence[str | Path] = (),
        cwd: Path | None = None,
    ) -> PartResult:
        """Run pytest over `paths`."""
        checkout = require_checkout()
        report = self.workspace.dist / "logs" / f"test-{name}.xml"
        report.unlink(missing_ok=True)
        command: list[str | Path] = [python or sys.executable, "-P", "-m", "pytest", "-q", f"--junitxml={report}"]
        command += ["-c", checkout / "pyproject.toml", f"--rootdir={checkout}", *options]
        if self.expression:
            command += ["-k", self.expression]
        succeeded = self.program(name, [*command, *paths], env=env, cwd=cwd)
        return count_results(report, succeeded=succeeded)

    def ship(self) -> bool:
        """Bring the packages up to date, once per run."""
        if not self.shipped:
            dist = str(self.workspace.dist)
            command = [*proc.own_python(), "-m", "slipway", "ship", "--dist", dist]
            self.shipped = self.program("ship", command, env=dict(os.environ) | development_environment())
        return self.shipped


def development_environment() -> dict[str, str]:
    """For tools that work on the checkout: the caller's environment, and this package on the path."""
    return dict(os.environ) | {"PYTHONPATH": str(require_checkout() / "ci")}
