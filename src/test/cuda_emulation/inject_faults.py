"""Breaks the CUDA plug-in on purpose, one fault at a time, and tells which of them the tests catch.

    ./slipway test emulation      makes dist/work/emulation, the build, and dist/work/emulation-env, its environment
    python src/test/cuda_emulation/inject_faults.py dist/work [FAULT...]

Each fault is made in a copy of the sources, compiled into a copy of the build, and tested until the first failure:
first by the tests that faults.yaml expects it from.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKOUT = Path(__file__).resolve().parents[3]
TARGET = "cuda_emulation_tests"  # of the build: all that the tests load

# By the folder of sources: which one their library is made in, and the library.
LIBRARIES = {
    "c10/cuda": ("c10/cuda", "c10_cuda"),
    "aten/native/cuda": ("aten/native/cuda", "torch_cuda"),
    "aten/native/cuda/dnn": ("aten/native/cuda", "torch_cuda_dnn"),
    "aten/native/cuda/magma": ("aten/native/cuda", "torch_cuda_magma"),
}


@dataclass(frozen=True)
class Fault:
    """`old` in `file` becomes `new`; a header's fault only where these sources, relative to src, include it.

    `first`: which tests are tried before all others, as pytest's -k.
    """

    name: str
    file: str
    old: str
    new: str
    first: str
    compiled_into: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """What is compiled with the fault."""
        return self.compiled_into or (self.file,)


def read_faults() -> list[Fault]:
    """Those of faults.yaml."""
    entries = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))
    return [Fault(**{**entry, "compiled_into": tuple(entry.get("compiled_into", ()))}) for entry in entries]


class Laboratory:
    """A copy of the sources and of their build, and the tests."""

    def __init__(self, work: Path, folder: Path) -> None:
        self.prefix, self.build = work / "emulation-env", folder / "build"
        self.source, self.log = folder / "src", folder / "last.log"
        built = work / "emulation"
        script = 'for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$file"; done; cmake --build . --target '
        environment = {"CONDA_PREFIX": str(self.prefix)}
        if not self._run(["bash", "-c", script + TARGET], built, environment):
            raise SystemExit(f"{self.log.read_text(encoding='utf-8')[-3000:]}\nFirst: ./slipway test emulation")
        skipped = shutil.ignore_patterns("build", "*.so*", "__pycache__")
        shutil.copytree(CHECKOUT / "src", self.source, ignore=skipped)
        shutil.copytree(built, self.build, symlinks=True)
        self.commands: dict[str, str] = {}  # by what they make
        for command in self._commands(built):
            # As in the copies, and by the compiler itself: what is broken is no matter for the compiler cache.
            moved = re.sub(rf"{re.escape(str(built))}(?![\w-])", str(self.build), command)
            moved = re.sub(rf"{re.escape(str(CHECKOUT / 'src'))}(?![\w-])", str(self.source), moved)
            moved = moved.replace(f"{self.prefix / 'bin' / 'sccache'} ", "")
            if made := re.search(r" -o (\S+)", moved):
                self.commands[made[1]] = moved
        # Libraries find each other by the path of their folder.
        for made, command in self.commands.items():
            if made.startswith(("lib/", "bin/")) and not self._run(["bash", "-c", command], self.build):
                raise SystemExit(self.log.read_text(encoding="utf-8")[-3000:])

    def tests_pass(self, *chosen: str) -> bool:
        """Whether all tests pass, or those of `chosen`, which are options of pytest."""
        environment = {
            # The search for leaks does not see what the stack of a fiber holds.
            "ASAN_OPTIONS": "detect_leaks=0 allocator_may_return_null=1 detect_stack_use_after_return=0",
            "CUDA_EMULATION": "1",
            "TORCH_BACKEND_PATH": str(self.build / "lib"),
        }
        if not chosen and not self._run([str(self.build / "bin" / "test_cuda_streams")], self.build, environment):
            return False
        tests = sorted((CHECKOUT / "tests" / "torch").glob("test_cuda*.py"))
        command = [str(self.prefix / "bin" / "python"), "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["-c", str(CHECKOUT / "pyproject.toml"), f"--rootdir={CHECKOUT}", "-o", "pythonpath=tests/torch"]
        if not chosen:  # as many at a time as `./slipway test emulation` runs
            chosen = ("-n", str(min(len(os.sched_getaffinity(0)), 4)), "--dist", "worksteal")
        environment |= {
            "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
            "OMP_NUM_THREADS": "1",
            # The second brings the C++ library along, without which the first cannot see exceptions through.
            "LD_PRELOAD": " ".join(str(self.prefix / "lib" / name) for name in ("libasan.so.8", "libubsan.so.1")),
        }
        return self._run([*command, *chosen, *map(str, tests)], self.build, environment)

    def try_fault(self, fault: Fault) -> str:
        """What becomes of it: caught, missed, or why there was nothing to test."""
        path = self.source / fault.file
        text = path.read_text(encoding="utf-8")
        objects = dict(map(self._places, fault.sources))  # and the library of each
        whole = {file: (self.build / file).read_bytes() for file in (*objects, *objects.values())}
        path.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")
        found = "caught"
        if not all(self._run(["bash", "-c", self.commands[place]], self.build) for place in objects):
            found = "does not compile"
        elif not all(self._link(library, objects) for library in set(objects.values())):
            found = "does not link"
        elif all((self.build / library).read_bytes() == whole[library] for library in objects.values()):
            found = "changes nothing"
        elif self.tests_pass("-k", fault.first) and self.tests_pass():
            found = "missed"
        path.write_text(text, encoding="utf-8")
        for file, content in whole.items():
            (self.build / file).write_bytes(content)
        return found

    def _link(self, library: str, objects: dict[str, str]) -> bool:
        """Of a template that several sources have, the linker takes the first: those with the fault go in front."""
        broken = [place for place, home in objects.items() if home == library]
        command = self.commands[library]
        for place in broken:
            command = command.replace(f" {place} ", " ")
        command = command.replace(f" -o {library} ", f" -o {library} {' '.join(broken)} ", 1)
        return self._run(["bash", "-c", command], self.build)

    @staticmethod
    def _places(source: str) -> tuple[str, str]:
        """Where the build has what is compiled of `source`, and the library of it."""
        home, library = LIBRARIES[source.rpartition("/")[0]]
        inner = source.removeprefix(f"{home}/")
        return f"{home}/CMakeFiles/{library}.dir/{inner}.o", f"lib/lib{library}.so"

    def _commands(self, built: Path) -> list[str]:
        command = [str(self.prefix / "bin" / "ninja"), "-C", str(built), "-t", "commands", TARGET]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    def _run(self, command: list[str], place: Path, environment: Mapping[str, str] = os.environ) -> bool:
        own = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.log.parent)}
        with self.log.open("w") as output:
            done = subprocess.run(
                command, env=os.environ | environment | own, cwd=place, stdout=output, stderr=output, check=False
            )
        return done.returncode == 0


def main() -> int:
    """Every fault, or those that are named; 0 when all were caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="where `./slipway test emulation` left its build: dist/work")
    parser.add_argument("faults", nargs="*", help="words of their names (default: all)")
    arguments = parser.parse_args()
    chosen = [
        fault for fault in read_faults() if not arguments.faults or any(word in fault.name for word in arguments.faults)
    ]
    for fault in chosen:
        if fault.old not in (CHECKOUT / "src" / fault.file).read_text(encoding="utf-8"):
            raise SystemExit(f"{fault.file} has no `{fault.old}` any more: bring the fault `{fault.name}` up to date")
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(arguments.work.resolve(), Path(folder))
        if not laboratory.tests_pass():
            print(laboratory.log.read_text(encoding="utf-8")[-3000:])
            raise SystemExit("the tests have to pass before anything is broken")
        caught = 0
        for fault in chosen:
            started = time.monotonic()
            found = laboratory.try_fault(fault)
            caught += found == "caught"
            print(f"{found:17} {time.monotonic() - started:6.0f} s  {fault.name}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
