"""Measures what the compiler cache gives: a cold clone without and with a warm store, and one edited kernel.

    ./slipway bench cache [--runs N] [--cuda X.Y]

Works on clones of the last commit in a temporary folder, each with its own empty dist/ and with a store made here; the
cache of downloads and assembled packages is the user's and warm. Beside each time: compiles taken from the store.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

CHECKOUT = Path(__file__).resolve().parents[1]
KERNEL = "src/aten/native/cpu/fill_kernels.cpp"
COUNTS = re.compile(r"sccache: (\d+) of (\d+) compiles")


@dataclass(frozen=True)
class Shipped:
    """Seconds of one ship; compiles that its builds asked for, and those that the store answered."""

    seconds: float
    compiles: int
    hits: int

    def __str__(self) -> str:
        """For people."""
        return f"{self.seconds:8.1f} s   {self.hits} of {self.compiles} compiles from the store"


def clone(folder: Path) -> Path:
    """A fresh clone in `folder`, with its tools installed: `.venv` is no part of what is compared."""
    subprocess.run(["git", "clone", "--quiet", "--local", str(CHECKOUT), str(folder)], check=True)
    subprocess.run(["./slipway", "--help"], cwd=folder, check=True, capture_output=True)
    return folder


def ship(checkout: Path, store: Path, words: list[str]) -> Shipped:
    """Ship with a store in that folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SCCACHE_")}
    started = time.perf_counter()
    completed = subprocess.run(
        ["./slipway", "ship", *words],
        cwd=checkout,
        env=environment | {"SCCACHE_DIR": str(store)},
        text=True,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if completed.returncode != 0:
        raise SystemExit(completed.stdout + completed.stderr)
    counts = [(int(hits), int(total)) for hits, total in COUNTS.findall(completed.stdout)]
    return Shipped(seconds, sum(total for _, total in counts), sum(hits for hits, _ in counts))


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--cuda", metavar="X.Y", help="ship CUDA's outputs, too")
    arguments = parser.parse_args()
    words = ["--cuda", arguments.cuda] if arguments.cuda else []
    ratios = []
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as name:
        folder = Path(name)
        for run in range(arguments.runs):
            store = folder / f"store-{run}"
            cold = ship(clone(folder / f"cold-{run}"), store, words)
            print(f"cold clone, empty store      {cold}", flush=True)
            warm_clone = clone(folder / f"warm-{run}")
            warm = ship(warm_clone, store, words)
            print(f"cold clone, warm store       {warm}   1/{cold.seconds / warm.seconds:.1f}", flush=True)
            ratios.append(warm.seconds / cold.seconds)
            with (warm_clone / KERNEL).open("a", encoding="utf-8") as stream:
                stream.write(f"extern int edit_{run};\n")  # a comment is not enough: it is gone before the compiler
            print(f"one kernel edited            {ship(warm_clone, store, words)}", flush=True)
            print(f"nothing changed              {ship(warm_clone, store, words)}", flush=True)
    print(f"a warm store takes {median(ratios):.2f} of the time of an empty one")


if __name__ == "__main__":
    main()
