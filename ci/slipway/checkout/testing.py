"""What `slipway test` needs beside the tests: tools, environments from the shipped channel, and counting."""

from __future__ import annotations

import filecmp
import os
import shlex
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.checkout import require_checkout
from slipway.base.errors import BuildError, NetworkError
from slipway.base.platform import this_platform, usable_cpus
from slipway.bootstrap.embedded import embedded_channel
from slipway.channel.environments import install, needed_names, solve
from slipway.channel.folder import Channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace

TEST_LOCK = "ci/requirements-test.lock"

DEVELOPMENT_PACKAGES = ("cmake", "ninja", "python", "pyyaml", "libtorch")
"""What building src/test against an installed libtorch takes, beside the compilers."""


@dataclass(frozen=True)
class PartResult:
    """How many tests of a part passed and failed."""

    passed: int
    failed: int


def count_results(report: Path, *, succeeded: bool) -> PartResult:
    """Count a JUnit report. A run that failed without a failed test (a broken conftest, say) counts as one failure."""
    passed = failed = 0
    if report.is_file():
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            outcomes = {child.tag for child in case}
            if outcomes & {"failure", "error"}:
                failed += 1
            elif "skipped" not in outcomes:
                passed += 1
    return PartResult(passed, failed if succeeded or failed else 1)


def ensure_test_tools(workspace: Workspace) -> None:
    """Install ci/requirements-test.lock into slipway's own environment, unless it is there already.

    Raises:
        NetworkError: pip could not get it.
    """
    lock = require_checkout() / TEST_LOCK
    stamp = Path(sys.prefix) / "requirements-test.lock"
    if stamp.is_file() and filecmp.cmp(lock, stamp, shallow=False):
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--require-hashes", "--only-binary", ":all:", "--requirement", str(lock)]
    log = workspace.log("pip-requirements-test")
    proc.run(command, env=os.environ, what="installing the test tools", log=log, error=NetworkError)
    shutil.copyfile(lock, stamp)


def make_environment(
    workspace: Workspace, specs: Sequence[str], reporter: Reporter, *, name: str, channels: Sequence[str]
) -> Path:
    """An environment of its own for tests, solved from `channels` and the embedded one."""
    embedded = embedded_channel({}, reporter, needs=needed_names(specs, channels), offline=False)
    prefix = workspace.work / f"{name}-env"
    install(solve(list(specs), (*channels, embedded.url)), prefix, reporter, into_existing=True)
    return prefix


def make_test_environment(
    workspace: Workspace, specs: Sequence[str], reporter: Reporter, *, name: str = "test"
) -> Path:
    """An environment of its own for tests, solved from the shipped channel and the embedded one."""
    return make_environment(workspace, specs, reporter, name=name, channels=[Channel(workspace.channel).url])


def build_script(prefix: Path, build: Path, options: Mapping[str, object], target: str = "all") -> str:
    """What configures src/ with CMake's `options` in the folder `build`, with the compilers of `prefix`, and builds it.

    Args:
        target: what is made.
    """
    words = shlex.join(f"-D{key}={value}" for key, value in options.items())
    folder = shlex.quote(str(build))
    return f"""
set -e
export CONDA_PREFIX={shlex.quote(str(prefix))}
for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$file"; done
cmake $CMAKE_ARGS -G Ninja -S {shlex.quote(str(require_checkout() / "src"))} -B {folder} {words}
cmake --build {folder} --parallel {usable_cpus()} --target {target}
"""


def run_ctest(workspace: Workspace, reporter: Reporter) -> PartResult:
    """Build the C++ tests against the shipped libtorch, with the embedded channel's compiler, and run them."""
    platform = this_platform()
    specs = (f"gcc_{platform}", f"gxx_{platform}", *DEVELOPMENT_PACKAGES)
    prefix = make_test_environment(workspace, specs, reporter, name="development")
    build = workspace.work / "ctest"
    report = build / "ctest.xml"
    report.unlink(missing_ok=True)
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PREFIX_PATH": prefix,
        "CMAKE_BUILD_RPATH": prefix / "lib",
        "TORCH_BUILD_CORE": "OFF",
        "TORCH_BUILD_CUDA": "OFF",
        "TORCH_BUILD_PYTHON": "OFF",
        "TORCH_BUILD_TESTS": "ON",
    }
    words = ["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(report)]
    script = build_script(prefix, build, options) + shlex.join(words)
    home = workspace.work / "home"
    home.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    with reporter.task("ctest") as task:
        completed = proc.run(
            ["bash", "-c", script],
            env=environment,
            what="the C++ tests",
            log=workspace.log("test-ctest"),
            on_line=lambda line: task.update(text=line[:100]),
            error=BuildError,
            check=False,
        )
    if completed.returncode != 0:
        reporter.line("\n".join(completed.tail))
        reporter.line(f"ctest failed; its whole output: {workspace.log('test-ctest')}")
    return count_results(report, succeeded=completed.returncode == 0)
