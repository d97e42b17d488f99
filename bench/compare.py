"""What the benchmarks of single operations share: a program timed in this torch and in another one, side by side."""

from __future__ import annotations

import argparse
import subprocess
import sys

TIMING = """
import timeit
print(torch.__version__)
for name, function in cases.items():
    function()
    timer = timeit.Timer(function)
    count, _ = timer.autorange()
    count = max(1, count // 4)
    print(f'{name}\\t{min(timer.repeat(7, count)) / count * 1e6}')
"""


def measure(python: str, program: str, threads: int) -> tuple[str, dict[str, float]]:
    """The version, and microseconds per call of each of the program's `cases`: the best of seven repeats."""
    text = f"import torch\ntorch.set_num_threads({threads})\n{program}\n{TIMING}"
    lines = subprocess.run([python, "-c", text], capture_output=True, text=True, check=True).stdout.splitlines()
    return lines[0], {name: float(value) for name, value in (line.split("\t") for line in lines[1:])}


def main(description: str, program: str) -> None:
    """Read the command line, time the program, print a table; with a reference, how many times its time we take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter of an environment with another torch")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1], metavar="N", help="numbers of threads (default: 1)"
    )
    options = parser.parse_args()
    for threads in options.threads:
        measured = [measure(python, program, threads) for python in filter(None, (sys.executable, options.reference))]
        title = f"microseconds per call, {threads} thread{'s' * (threads > 1)}"
        print(f"{title:40}" + "".join(f"{version:>18}" for version, _ in measured))
        for name, ours in measured[0][1].items():
            figures = [figures[name] for _, figures in measured]
            ratio = f"{ours / figures[1]:8.2f}" if len(figures) > 1 else ""
            print(f"{name:40}" + "".join(f"{figure:18.2f}" for figure in figures) + ratio)
