"""Breaks the CUDA plug-in on purpose, one fault at a time, and tells which of them the tests catch.

    ./slipway test emulation      makes the environment and the build
    python src/test/cuda_emulation/inject_faults.py dist/work/emulation-env [FAULT...]

Each fault is made in a copy of the sources, compiled, and tested until the first failure.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Fault:
    """`old` in `file` becomes `new`."""

    name: str
    file: str
    old: str
    new: str


def read_faults() -> list[Fault]:
    """Those of faults.yaml."""
    entries = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))
    return [Fault(**entry) for entry in entries]


class Laboratory:
    """A copy of the sources, its build, and the tests."""

    def __init__(self, prefix: Path, folder: Path) -> None:
        self.prefix, self.folder = prefix, folder
        self.source = folder / "src"
        shutil.copytree(CHECKOUT / "src", self.source, ignore=shutil.ignore_patterns("build", "*.so*", "__pycache__"))

    def build(self) -> bool:
        """Whether the plug-in compiles."""
        script = f"""
set -e
export CONDA_PREFIX={self.prefix} PATH={self.prefix}/bin:/usr/bin:/bin
for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$file"; done
cd {self.folder}
[ -f build/build.ninja ] || cmake $CMAKE_ARGS -G Ninja -S src -B build -DCMAKE_BUILD_TYPE=Release \\
  -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_PREFIX_PATH={self.prefix} -DCMAKE_BUILD_RPATH={self.prefix}/lib \\
  -DTORCH_BUILD_CORE=OFF -DTORCH_BUILD_CUDA=ON -DTORCH_CUDA_EMULATION=ON -DTORCH_BUILD_TESTS=ON
cmake --build build --target torch_cuda torch_cuda_linalg test_cuda_streams
"""
        return self._run(["bash", "-c", script], {})

    def tests_pass(self) -> bool:
        """Whether all tests pass."""
        environment = {"CUDA_EMULATION": "1", "TORCH_BACKEND_PATH": str(self.folder / "build" / "lib")}
        if not self._run(["ctest", "--test-dir", "build", "-R", "^cuda_"], {}):
            return False
        tests = sorted((CHECKOUT / "tests" / "torch").glob("test_cuda*.py"))
        command = [str(self.prefix / "bin" / "python"), "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["-c", str(CHECKOUT / "pyproject.toml"), f"--rootdir={CHECKOUT}", "-o", "pythonpath=tests/torch"]
        return self._run([*command, *map(str, tests)], environment | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})

    def inject(self, fault: Fault) -> None:
        """Make the fault in the copy.

        Raises:
            SystemExit: the sources have changed, so that it cannot be made.
        """
        path = self.source / fault.file
        text = path.read_text(encoding="utf-8")
        if fault.old not in text:
            raise SystemExit(f"{fault.file} has no `{fault.old}` any more: bring the fault `{fault.name}` up to date")
        path.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")

    def repair(self, fault: Fault) -> None:
        """Take the fault out again."""
        shutil.copyfile(CHECKOUT / "src" / fault.file, self.source / fault.file)

    def _run(self, command: list[str], environment: dict[str, str]) -> bool:
        surroundings = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.folder), **environment}
        log = self.folder / "last.log"
        with log.open("w") as output:
            return (
                subprocess.run(
                    command, env=surroundings, cwd=self.folder, stdout=output, stderr=output, check=False
                ).returncode
                == 0
            )


def main() -> int:
    """Every fault, or those that are named; 0 when all were caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path, help="the environment of `./slipway test emulation`")
    parser.add_argument("faults", nargs="*", help="words of their names (default: all)")
    arguments = parser.parse_args()
    chosen = [
        fault for fault in read_faults() if not arguments.faults or any(word in fault.name for word in arguments.faults)
    ]
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(arguments.prefix.resolve(), Path(folder))
        if not laboratory.build() or not laboratory.tests_pass():
            print((Path(folder) / "last.log").read_text(encoding="utf-8")[-3000:])
            raise SystemExit("the tests have to pass before anything is broken")
        caught = 0
        for fault in chosen:
            started = time.monotonic()
            laboratory.inject(fault)
            found = "does not compile" if not laboratory.build() else "missed" if laboratory.tests_pass() else "caught"
            laboratory.repair(fault)
            caught += found == "caught"
            print(f"{found:17} {time.monotonic() - started:6.0f} s  {fault.name}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
