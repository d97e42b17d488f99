"""Measures what an edit costs, up to the installed package: nothing, README, one Python file, one CPU kernel.

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
    """Text that is put at the end of a file, and the installed file in which a mark of it must be found then."""

    title: str
    file: str | None = None
    text: str = ""
    mark: str = ""
    installed: str | None = None


EDITS = (
    Edit("nothing changed"),
    Edit("README edited", "README.md", "edit {run}\n"),
    Edit(
        "one Python file edited",
        "src/torch/random.py",
        "# edit {run}\n",
        "# edit {run}\n",
        "lib/python3.11/site-packages/torch/random.py",
    ),
    Edit(
        "one CPU kernel edited",
        "src/aten/native/cpu/fill_kernels.cpp",
        # Code rather than a comment, which a compiler cache does not see; exported, or it would be dropped.
        "#if HWY_ONCE\n"
        'extern "C" __attribute__((visibility("default"))) int edit_{run}() {{ return {run}; }}\n'
        "#endif\n",
        "edit_{run}\0",
        "lib/libtorch_cpu.so",
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
                if edit.file is not None:
                    with (checkout / edit.file).open("a", encoding="utf-8") as stream:
                        stream.write(edit.text.format(run=run))
                took, built, cached = ship(checkout)
                print(f"{edit.title:<30} {took:8.2f} s   built: {', '.join(built) or 'nothing'}", flush=True)
                for line in cached:
                    print(f"{'':<42} {line}")
                if edit.installed is not None:
                    content = (checkout / "dist" / "env" / edit.installed).read_bytes()
                    if edit.mark.format(run=run).encode() not in content:
                        raise SystemExit(f"the edit has not arrived in {edit.installed}")


if __name__ == "__main__":
    main()
