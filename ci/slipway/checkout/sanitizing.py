"""torch under gcc's sanitizers: built from this checkout with the embedded channel's compiler, and its tests run in it.

A build holds everything: the libraries, the C++ tests, and a Python package of its own. The tests run through although
something was found; every report becomes a file, and is one failure.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.platform import this_platform
from slipway.checkout.testing import PartResult, build_script, count_results, make_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.checkout.run import TestRun

BUILD_PACKAGES = ("libsanitizer", "cmake", "ninja", "pyyaml", "libhwy", "mkl-devel", "mkl-include")
PYTHON_PACKAGES = ("python 3.11.*", "typing_extensions", "numpy", "pytest", "setuptools", "pybind11")

FORKING = ("test_data.py", "test_multiprocessing.py")
"""Left out: a child of fork waits for ever to start a thread where AddressSanitizer was at work in another one."""

MEASURING = ("csrc/test_python_variable.py::test_nothing_leaks", "test_limits.py::test_what_once_hung_ends")
"""Left out, too: they measure or limit the process' memory, most of which is the sanitizer's."""

REPORT = re.compile(r"runtime error: |ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer")
"""How a report begins; there may be several in a file."""


@dataclass(frozen=True)
class Sanitizer:
    """One build: what gcc's ``-fsanitize`` takes, and what the run time libraries are told in ``*SAN_OPTIONS``."""

    checks: str
    options: str
    preload: str = ""
    """What a Python that knows nothing of sanitizers has to load first."""

    def start(self, prefix: Path, reports: Path, *, leaks: bool = True) -> Checking:
        """The environments of what runs under it; `reports`, emptied, is where its findings go.

        Args:
            leaks: whether programs that were built with it are searched for leaks when they end.
        """
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir(parents=True)

        def told(searched: bool) -> dict[str, str]:
            options = f"{self.options} detect_leaks={int(searched)} log_path={reports / 'report'}"
            return {f"{kind}SAN_OPTIONS": options for kind in ("A", "UB", "T")}

        preload = " ".join(str(prefix / "lib" / library) for library in self.preload.split())
        return Checking(told(leaks), told(False) | {"LD_PRELOAD": preload})


@dataclass(frozen=True)
class Checking:
    """What is added to the environment of programs that were built with a sanitizer, and of a Python that was not."""

    of_programs: dict[str, str]
    of_python: dict[str, str]


SANITIZERS = {
    # An allocation that cannot be had is a null pointer, as with malloc, and an error of ours: tests ask for it.
    # Leaks are looked for in the C++ tests: CPython keeps much to its end.
    "address": Sanitizer(
        "address,undefined",
        "halt_on_error=0 allocator_may_return_null=1 print_stacktrace=1 detect_stack_use_after_return=0",
        preload="libasan.so.8 libubsan.so.1",
    ),
    # MKL frees at its end what its threads had: a race only for who does not see how they ended.
    "thread": Sanitizer("thread", "halt_on_error=0 allocator_may_return_null=1 ignore_noninstrumented_modules=1"),
}


def run_sanitizer(run: TestRun, name: str, paths: Sequence[Path]) -> PartResult:
    """Build with one sanitizer, then run the C++ tests and those of `paths`, which need Python.

    Args:
        name: of `SANITIZERS`.

    Raises:
        SlipwayError: the environment cannot be had.
    """
    sanitizer = SANITIZERS[name]
    platform = this_platform()
    specs = (f"gcc_{platform}", f"gxx_{platform}", *BUILD_PACKAGES, *PYTHON_PACKAGES)
    prefix = make_environment(run.workspace, specs, run.reporter, name="sanitizers", channels=())
    build = run.workspace.work / f"sanitizer-{name}"
    home, reports = build / "home", build / "reports"
    home.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    script = _build_script(prefix, build, sanitizer)
    if not run.program(f"sanitizer-{name}-build", ["bash", "-c", script], env=environment):
        return PartResult(0, 1)

    environment["LD_LIBRARY_PATH"] = str(prefix / "lib")
    checking = sanitizer.start(prefix, reports)
    junit = build / "ctest.xml"
    junit.unlink(missing_ok=True)
    command: list[str | Path] = ["ctest", "--test-dir", build, "--output-on-failure", "--output-junit", junit]
    succeeded = run.program(f"sanitizer-{name}-ctest", command, env=environment | checking.of_programs)
    results = [count_results(junit, succeeded=succeeded)]
    if paths:
        package = build / "installed" / "lib" / "python3.11" / "site-packages"
        environment |= {"PYTHONPATH": str(package)} | checking.of_python
        options = ["-p", "no:cacheprovider", "-o", "pythonpath=tests/torch"]
        options += [f"--ignore={folder / name}" for folder in paths for name in FORKING]
        options += [f"--deselect=tests/torch/{name}" for name in MEASURING]
        python = prefix / "bin" / "python"
        results.append(
            run.pytest(f"sanitizer-{name}", paths, python=python, env=environment, options=options, cwd=home)
        )
    found = show_reports(run, reports)
    return PartResult(sum(each.passed for each in results), found + sum(each.failed for each in results))


def show_reports(run: TestRun, folder: Path) -> int:
    """Print what the sanitizers found; how many findings there are."""
    found = 0
    for file in sorted(folder.iterdir()):
        text = file.read_text(encoding="utf-8", errors="replace")
        if findings := len(REPORT.findall(text)):  # and not a mere remark, such as that swapcontext was called
            found += findings
            run.reporter.line(f"{file}:\n{text}")
    return found


def _build_script(prefix: Path, build: Path, sanitizer: Sanitizer) -> str:
    options = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS_DEBUG": "-O1 -g1 -D_GLIBCXX_ASSERTIONS -march=x86-64-v3 -DHWY_COMPILE_ONLY_STATIC",
        "CMAKE_INSTALL_PREFIX": build / "installed",
        "CMAKE_PREFIX_PATH": prefix,
        "CMAKE_BUILD_RPATH": prefix / "lib",
        "Python_EXECUTABLE": prefix / "bin" / "python",
        "Python3_EXECUTABLE": prefix / "bin" / "python",
        "TORCH_BLAS": "MKL",
        "TORCH_BUILD_PYTHON": "ON" if sanitizer.preload else "OFF",
        "TORCH_BUILD_TESTS": "ON",
        "TORCH_SANITIZE": sanitizer.checks,
    }
    return build_script(prefix, build, options, "install")
