"""Breaks the CUDA plug-in on purpose, one fault at a time, and tells which of them the tests catch.

    ./slipway test emulation      makes the environment and the build
    python src/test/cuda_emulation/inject_faults.py dist/work/emulation-env [FAULT...]

Each fault is made in a copy of the sources, compiled, and tested until the first failure: first by the tests that
faults.yaml expects it from.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[3]


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
    """A copy of the sources, its build, and the tests."""

    def __init__(self, prefix: Path, folder: Path) -> None:
        self.prefix, self.folder = prefix, folder
        self.source = folder / "src"
        shutil.copytree(CHECKOUT / "src", self.source, ignore=shutil.ignore_patterns("build", "*.so*", "__pycache__"))

    def build(self, *targets: str) -> bool:
        """Whether the plug-in compiles, or only `targets`."""
        wanted = " ".join(targets or ["cuda_emulation_tests"])
        script = f"""
set -e
export CONDA_PREFIX={self.prefix} PATH={self.prefix}/bin:/usr/bin:/bin
for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$file"; done
cd {self.folder}
[ -f build/build.ninja ] || cmake $CMAKE_ARGS -G Ninja -S src -B build -DCMAKE_BUILD_TYPE=Release \\
  -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' -DCMAKE_PREFIX_PATH={self.prefix} -DCMAKE_BUILD_RPATH={self.prefix}/lib \\
  -DTORCH_BUILD_CORE=OFF -DTORCH_BUILD_CUDA=ON -DTORCH_CUDA_EMULATION=ON -DTORCH_BUILD_TESTS=ON -DTORCH_SANITIZE=address
cmake --build build --target {wanted}
"""
        return self._run(["bash", "-c", script], {})

    def tests_pass(self, *chosen: str) -> bool:
        """Whether all tests pass, or those of `chosen`, which are options of pytest."""
        # The search for leaks does not see what the stack of a fiber holds.
        checking = {"ASAN_OPTIONS": "detect_leaks=0 allocator_may_return_null=1 detect_stack_use_after_return=0"}
        if not chosen and not self._run(["ctest", "--test-dir", "build", "-R", "^cuda_"], checking):
            return False
        tests = sorted((CHECKOUT / "tests" / "torch").glob("test_cuda*.py"))
        command = [str(self.prefix / "bin" / "python"), "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["-c", str(CHECKOUT / "pyproject.toml"), f"--rootdir={CHECKOUT}", "-o", "pythonpath=tests/torch"]
        environment = checking | {
            "CUDA_EMULATION": "1",
            "TORCH_BACKEND_PATH": str(self.folder / "build" / "lib"),
            "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
            # The second brings the C++ library along, without which the first cannot see exceptions through.
            "LD_PRELOAD": " ".join(str(self.prefix / "lib" / name) for name in ("libasan.so.8", "libubsan.so.1")),
        }
        return self._run([*command, *chosen, *map(str, tests)], environment)

    def try_fault(self, fault: Fault) -> str:
        """What becomes of it: caught, missed, or it does not compile."""
        path = self.source / fault.file
        text, times = path.read_text(encoding="utf-8"), path.stat()
        objects = [self._object(source) for source in fault.sources]
        whole = {file: file.read_bytes() for file in objects}
        path.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")
        compiled = self.build(*(str(file.relative_to(self.folder / "build")) for file in objects))
        # As if nothing had been: the other files that include it are not compiled again.
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if not compiled or not self.build():
            found = "does not compile"
        else:
            found = "missed" if self.tests_pass("-k", fault.first) and self.tests_pass() else "caught"
        for file, content in whole.items():
            file.write_bytes(content)
        return found

    def _object(self, source: str) -> Path:
        home, library = LIBRARIES[source.rpartition("/")[0]]
        inner = source.removeprefix(f"{home}/")
        return self.folder / "build" / home / "CMakeFiles" / f"{library}.dir" / f"{inner}.o"

    def _run(self, command: list[str], environment: dict[str, str]) -> bool:
        own = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.folder)}
        log = self.folder / "last.log"
        with log.open("w") as output:
            return (
                subprocess.run(
                    command,
                    env=os.environ | own | environment,
                    cwd=self.folder,
                    stdout=output,
                    stderr=output,
                    check=False,
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
    for fault in chosen:
        if fault.old not in (CHECKOUT / "src" / fault.file).read_text(encoding="utf-8"):
            raise SystemExit(f"{fault.file} has no `{fault.old}` any more: bring the fault `{fault.name}` up to date")
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(arguments.prefix.resolve(), Path(folder))
        if not laboratory.build() or not laboratory.tests_pass():
            print((Path(folder) / "last.log").read_text(encoding="utf-8")[-3000:])
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
