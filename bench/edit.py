"""Measures what an edit costs: nothing, one Python file, one CPU kernel; from the edit to the installed package.

    python bench/edit.py [--runs N]

Works on a clone of the last commit in a temporary folder, with the user's cache of downloads and compilers. The first
ship (everything) is not measured. Says for each which packages were built.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
EDITS = {
    "nothing changed": None,
    "README edited": "README.md",
    "one Python file edited": "src/torch/random.py",
    "one CPU kernel edited": "src/aten/native/cpu/fill_kernels.cpp",
}


def ship(checkout: Path) -> tuple[float, list[str]]:
    """Seconds that one `slipway ship` took, and the packages that it built."""
    started = time.perf_counter()
    completed = subprocess.run(["./slipway", "ship"], cwd=checkout, text=True, capture_output=True, check=False)
    took = time.perf_counter() - started
    if completed.returncode != 0:
        raise SystemExit(completed.stdout + completed.stderr)
    names, current = [], ""
    for line in completed.stdout.splitlines():
        words = line.partition("] ")[2].strip()
        if words.startswith("[") and not words.endswith("s"):
            current = words.split()[1]
        if words.startswith("built in "):
            names.append(current)
    return took, names


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
            for title, name in EDITS.items():
                if name is not None:
                    path = checkout / name
                    comment = {".py": "#", ".cpp": "//"}.get(path.suffix, "")
                    with path.open("a", encoding="utf-8") as stream:
                        stream.write(f"{comment} edit {run}\n")
                took, built = ship(checkout)
                print(f"{title:<30} {took:8.2f} s   built: {', '.join(built) or 'nothing'}", flush=True)


if __name__ == "__main__":
    main()
