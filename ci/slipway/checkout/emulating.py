"""The CUDA plug-in without a GPU: built for src/test/cuda_emulation, and its tests run there.

Its sources are compiled by the embedded channel's C++ compiler, beside the shipped torch, and with AddressSanitizer:
what a kernel does is watched by the emulation, and what the plug-in does on the host by that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slipway.base.platform import this_platform, usable_cpus
from slipway.base.scratch import scratch_folder
from slipway.checkout.sanitizing import SANITIZERS, show_reports
from slipway.checkout.testing import (
    DEVELOPMENT_PACKAGES,
    PartResult,
    build_script,
    count_results,
    make_test_environment,
)
from slipway.engines.compiler_cache.server import PROGRAM, REQUEST_SERVER, STOP_SERVER, CompilerCache
from slipway.engines.compiler_cache.store import check_store, choose_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.checkout.run import TestRun

PACKAGES = (
    *DEVELOPMENT_PACKAGES,
    "libsanitizer",
    "pytorch",
    "libtorch-distributed",
    "numpy",
    "pytest",
    "pytest-xdist",
    "python 3.11.*",
    "sccache",
)


def run_emulation(run: TestRun, paths: Sequence[Path]) -> PartResult:
    """Build the plug-in for the emulated device, and run `paths`, tests of tests/torch, with it.

    Raises:
        SlipwayError: the environment cannot be had.
    """
    platform = this_platform()
    specs = (f"gcc_{platform}", f"gxx_{platform}", *PACKAGES)
    prefix = make_test_environment(run.workspace, specs, run.reporter, name="emulation")
    build = run.workspace.work / "emulation"
    home = run.workspace.work / "test-home"
    home.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    if not _build(run, prefix, build, environment):
        return PartResult(0, 1)
    reports = build / "reports"
    # The search for leaks does not see what the stack of a fiber holds; the tests count the device's memory themselves.
    checking = SANITIZERS["address"].start(prefix, reports, leaks=False)
    report = build / "ctest.xml"
    report.unlink(missing_ok=True)
    command: list[str | Path] = ["ctest", "--test-dir", build, "-R", "^cuda_", "--output-on-failure"]
    command += ["--output-junit", report]
    streams = count_results(
        report, succeeded=run.program("emulation-ctest", command, env=environment | checking.of_programs)
    )
    environment |= checking.of_python | {
        "CUDA_EMULATION": "1",
        "TORCH_BACKEND_PATH": str(build / "lib"),
        # Each tensor in memory of its own: what lies behind it cannot be touched.
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
        # A device's kernels run one after another on one thread, so that each processor gets tests of its own.
        "OMP_NUM_THREADS": "1",
    }
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=tests/torch"]
    options += ["-n", str(min(usable_cpus(), 4)), "--dist", "worksteal"]
    python = prefix / "bin" / "python"
    rest = run.pytest("emulation", paths, python=python, env=environment, options=options, cwd=home)
    return PartResult(streams.passed + rest.passed, streams.failed + rest.failed + show_reports(run, reports))


def _build(run: TestRun, prefix: Path, build: Path, environment: Mapping[str, str]) -> bool:
    """Make what the tests load, through the compiler cache; whether that succeeded."""
    store = choose_store(os.environ)
    check_store(store)
    with scratch_folder("emulation") as place, CompilerCache(place, store, this_platform()) as cache:
        # As in the build of a package: the script asks, beside the recipe's folder, with the tools that it was given.
        asking = {"BUILD_PREFIX": str(prefix), "RECIPE_DIR": str(place / "recipe")}
        (place / "recipe").mkdir()
        script = f"{REQUEST_SERVER}\n{_build_script(prefix, build)}\n{STOP_SERVER}"
        command = ["bash", "-c", script]
        succeeded = run.program("emulation-build", command, env={**environment, **asking}, on_line=cache.on_line)
        if cache.error is not None:
            raise cache.error
        if compiled := cache.statistics("emulation"):
            run.reporter.line(f"{PROGRAM}: {compiled.sentence}")
    return succeeded


def _build_script(prefix: Path, build: Path) -> str:
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER_LAUNCHER": prefix / "bin" / PROGRAM,
        "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG",
        "CMAKE_PREFIX_PATH": prefix,
        "CMAKE_BUILD_RPATH": prefix / "lib",
        "TORCH_BUILD_CORE": "OFF",
        "TORCH_BUILD_CUDA": "ON",
        "TORCH_BUILD_NCCL": "ON",
        "TORCH_BUILD_TESTS": "ON",
        "TORCH_CUDA_EMULATION": "ON",
        "TORCH_SANITIZE": "address",
    }
    return build_script(prefix, build, options, "cuda_emulation_tests")
