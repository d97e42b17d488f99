"""Measures what an edit costs, up to the installed package: nothing, README, a Python file, a CPU kernel in two ways.

    ./slipway bench edit [--runs N]

Works on a clone of the last commit in a temporary folder, with the user's cache of downloads and compiled files. The
first ship (everything) is not measured. Says for each which packages were built and what the compiler cache did, and
looks into the installed files for the edit.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
OUTPUT = re.compile(r"^\[ *[\d.]+\] \[\d+/\d+\] (?P<name>\S+) \S+ \S+$")


@dataclass(frozen=True)
class Edit:
    """Text that is put at the end of a file, or in the place of another, and what must be seen of it then.

    Attributes:
        replaces: a text of the file, which stands there once; without one, `text` goes to the end.
        installed: a file of the environment, which is another one afterwards.
        mark: what must be found in it.
    """

    title: str
    file: str | None = None
    text: str = ""
    replaces: str = ""
    mark: str = ""
    installed: str | None = None

    def apply(self, checkout: Path, run: int) -> None:
        """Make the edit, another one in each `run`."""
        if self.file is None:
            return
        path = checkout / self.file
        before, text = path.read_text(encoding="utf-8"), self.text.format(run=run)
        if not self.replaces:
            after = before + text
        else:
            there = self.text.format(run=run - 1) if run else self.replaces
            if before.count(there) != 1:
                raise SystemExit(f"`{there}` does not stand once in {self.file}")
            after = before.replace(there, text)
        path.write_text(after, encoding="utf-8")


EDITS = (
    Edit("nothing changed"),
    Edit("README edited", "README.md", "edit {run}\n"),
    Edit(
        "one Python file edited",
        "src/torch/random.py",
        "# edit {run}\n",
        mark="# edit {run}\n",
        installed="lib/python3.11/site-packages/torch/random.py",
    ),
    Edit(
        "the body of one CPU kernel",
        "src/aten/native/cpu/fill_kernels.cpp",
        # How many elements a thread takes at least: nothing that others could link changes, so pytorch is not built.
        "parallel_for(0, iter.numel(), kGrainSize + {run} + 1,",
        replaces="parallel_for(0, iter.numel(), kGrainSize,",
        installed="lib/libtorch_cpu.so",
    ),
    Edit(
        "a CPU kernel with a new symbol",
        "src/aten/native/cpu/fill_kernels.cpp",
        # Code rather than a comment, which a compiler cache does not see; exported, or it would be dropped.
        "#if HWY_ONCE\n"
        'extern "C" __attribute__((visibility("default"))) int edit_{run}() {{ return {run}; }}\n'
        "#endif\n",
        mark="edit_{run}\0",
        installed="lib/libtorch_cpu.so",
    ),
)


def ship(checkout: Path) -> tuple[float, list[str], list[str]]:
    """Seconds that one `slipway ship` took, the packages that it built, and what it says of the compiler cache."""
    started = time.perf_counter()
    completed = subprocess.run(["./slipway", "ship"], cwd=checkout, text=True, capture_output=True, check=False)
    took = time.perf_counter() - started
    if completed.returncode != 0:
        raise SystemExit(completed.stdout + completed.stderr)
    built, cached, current = [], [], ""
    for line in completed.stdout.splitlines():
        if match := OUTPUT.match(line):
            current = match["name"]
        text = line.partition("] ")[2].strip()
        if text.startswith("built in "):
            built.append(current)
        if text.startswith("sccache: "):
            cached.append(f"{current}: {text.removeprefix('sccache: ').partition(' (')[0]}")
    return took, built, cached


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "clone", "--quiet", "--local", str(CHECKOUT), str(checkout)], check=True)
        ship(checkout)
        for run in range(arguments.runs):
            for edit in EDITS:
                installed = checkout / "dist" / "env" / (edit.installed or "bin/python")
                before = installed.read_bytes()
                edit.apply(checkout, run)
                took, built, cached = ship(checkout)
                print(f"{edit.title:<30} {took:8.2f} s   built: {', '.join(built) or 'nothing'}", flush=True)
                for line in cached:
                    print(f"{'':<42} {line}")
                content = installed.read_bytes()
                if edit.installed is not None and (
                    content == before or edit.mark.format(run=run).encode() not in content
                ):
                    raise SystemExit(f"the edit has not arrived in {edit.installed}")


if __name__ == "__main__":
    main()
