"""Run every test, part by part, with progress, times and one closing line.

parts, in their order:
  lint         ruff and strict mypy over the Python sources
  unit         fast tests of slipway, the recipe and torchgen
  ship         `slipway ship`: the packages, their own tests and the hello world
  ctest        the C++ tests of src/test, built against the shipped libtorch
  torch        tests/torch, in an environment that is solved from the shipped channel
  integration  launcher, real builds, faults and interruptions

Without PART all of them run. A part that needs the packages ships them first, which takes seconds when nothing changed.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.checkout import require_checkout
from slipway.base.errors import SlipwayError, TestsFailedError, UsageError
from slipway.base.paths import Workspace
from slipway.base.text import format_table, human_seconds
from slipway.checkout.testing import (
    PartResult,
    count_results,
    ensure_test_tools,
    make_test_environment,
    run_ctest,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter

TORCH_TEST_PACKAGES = ("pytorch", "numpy", "pytest", "setuptools", "pybind11", "ninja", "python 3.11.*")
UNIT_FOLDERS = ("tests/slipway", "tests/recipe", "tests/torchgen", "tests/setup")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("parts", nargs="*", metavar="PART", help="which parts to run (default: all)")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("-k", metavar="EXPRESSION", dest="expression", help="only tests that match, as pytest's -k")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run the parts; returns the exit code."""
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        raise UsageError(f"there is no part `{unknown[0]}`", hint="parts: " + ", ".join(PARTS))
    workspace = Workspace.of_checkout(arguments.dist)
    with reporter.step("test tools"):
        ensure_test_tools(workspace)
    selected = [part for part in PARTS if part in (arguments.parts or PARTS)]
    run = _Run(workspace, reporter, arguments.expression)
    results: list[tuple[str, PartResult, float]] = []
    for part in selected:
        started = time.monotonic()
        with reporter.step(part):
            try:
                result = PARTS[part](run)
            except SlipwayError as error:
                reporter.line("\n".join(filter(None, (error.detail, f"error: {error.message}", error.where))))
                result = PartResult(0, 1)
        results.append((part, result, time.monotonic() - started))
    rows = [(part, str(result.passed), str(result.failed), human_seconds(took)) for part, result, took in results]
    reporter.line("")
    reporter.line(format_table(("part", "passed", "failed", "time"), rows, right=(1, 2, 3)))
    passed = sum(result.passed for _, result, _ in results)
    failed = sum(result.failed for _, result, _ in results)
    reporter.line(f"{passed} passed, {failed} failed")
    return TestsFailedError.exit_code if failed else 0


class _Run:
    """What the parts share: where, how loud, and whether the packages are there yet."""

    def __init__(self, workspace: Workspace, reporter: Reporter, expression: str | None) -> None:
        self.workspace = workspace
        self.reporter = reporter
        self.expression = expression
        self.shipped = False

    def program(
        self, name: str, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> bool:
        """Run one checking program, its output kept and, when it fails, shown; whether it succeeded."""
        with self.reporter.task(name) as task:
            completed = proc.run(
                command,
                env=env if env is not None else _development_environment(),
                what=name,
                cwd=cwd or require_checkout(),
                log=self.workspace.log(f"test-{name}"),
                on_line=lambda line: task.update(text=line[:100]),
                check=False,
            )
        if completed.returncode != 0:
            self.reporter.line("\n".join(completed.tail))
            self.reporter.line(f"{name} failed; its whole output: {self.workspace.log(f'test-{name}')}")
        return completed.returncode == 0

    def pytest(
        self,
        name: str,
        folders: Sequence[str],
        *,
        python: Path | None = None,
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> PartResult:
        """Run pytest over those of `folders` that exist."""
        checkout = require_checkout()
        existing = [str(checkout / folder) for folder in folders if (checkout / folder).is_dir()]
        if not existing:
            self.reporter.line(f"{name}: there is nothing in {', '.join(folders)}")
            return PartResult(0, 1)
        report = self.workspace.dist / "logs" / f"test-{name}.xml"
        report.unlink(missing_ok=True)
        command: list[str | Path] = [python or sys.executable, "-P", "-m", "pytest", "-q", f"--junitxml={report}"]
        command += ["-c", checkout / "pyproject.toml", f"--rootdir={checkout}", *options]
        if self.expression:
            command += ["-k", self.expression]
        succeeded = self.program(name, [*command, *existing], env=env, cwd=cwd)
        return count_results(report, succeeded=succeeded)

    def ship(self) -> bool:
        """Bring the packages up to date, once per run."""
        if not self.shipped:
            dist = str(self.workspace.dist)
            command = [sys.executable, "-P", "-s", "-m", "slipway", "ship", "--dist", dist]
            self.shipped = self.program("ship", command, env=dict(os.environ) | _development_environment())
        return self.shipped


def _development_environment() -> dict[str, str]:
    """For tools that work on the checkout: the caller's environment, and this package on the path."""
    return dict(os.environ) | {"PYTHONPATH": str(require_checkout() / "ci")}


def _lint(run: _Run) -> PartResult:
    checks = {
        "ruff": [sys.executable, "-m", "ruff", "check", "--no-cache", "."],
        "ruff-format": [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "."],
        "mypy": [sys.executable, "-m", "mypy", "--no-error-summary"],
    }
    passed = sum(run.program(name, command) for name, command in checks.items())
    return PartResult(passed, len(checks) - passed)


def _unit(run: _Run) -> PartResult:
    return run.pytest("unit", UNIT_FOLDERS, options=["-m", "not integration and not network"])


def _ship(run: _Run) -> PartResult:
    return PartResult(1, 0) if run.ship() else PartResult(0, 1)


def _ctest(run: _Run) -> PartResult:
    if not run.ship():
        return PartResult(0, 1)
    return run_ctest(run.workspace, run.reporter)


def _torch(run: _Run) -> PartResult:
    if not run.ship():
        return PartResult(0, 1)
    prefix = make_test_environment(run.workspace, TORCH_TEST_PACKAGES, run.reporter)
    home = run.workspace.work / "test-home"
    home.mkdir(parents=True, exist_ok=True)
    # Outside the checkout and with an empty environment, so that `import torch` can only find the installed package.
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "HOME": str(home)}
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=tests/torch"]
    python = prefix / "bin" / "python"
    return run.pytest("torch", ["tests/torch"], python=python, env=environment, options=options, cwd=home)


def _integration(run: _Run) -> PartResult:
    folders = (*UNIT_FOLDERS, "tests/integration")
    environment = _development_environment() | {"SLIPWAY_TEST_DIST": str(run.workspace.dist)}
    return run.pytest("integration", folders, env=environment, options=["-m", "integration or network"])


PARTS: Mapping[str, Callable[[_Run], PartResult]] = {
    "lint": _lint,
    "unit": _unit,
    "ship": _ship,
    "ctest": _ctest,
    "torch": _torch,
    "integration": _integration,
}
