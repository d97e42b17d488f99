"""Measures `slipway ci run --on` with 1, 2 and 4 workers, and simulates more of them from the times of earlier builds.

    ./slipway bench fleet [--workers 1 2 4] [--jobs N] [--seconds S]
    ./slipway bench fleet --matrix DIST [--workers 1 2 4] [--variant KEY=V1,V2,...]
    ./slipway bench fleet --simulate DIST [--width 1 2 4 16 64] [--variant KEY=V1,V2,...]

The workers are processes of this machine, with one core each as far as there are cores. Each sees a folder of its own
where all of them build, as on machines of their own, so that the store of compiled files serves them all. Measured are
jobs that wait for S seconds, which need no core: what is above S times the jobs in a row is what the pipeline itself
takes. Or, with `--matrix`, the matrix of this checkout's recipe on the embedded channel, in DIST/1, DIST/2 and so on.

Simulated is the same matrix, by the same choice of jobs (`choose_next`), each output taking what its slowest build took
that DIST has a record of; one worker does one job at a time. Moving packages takes no time there: they are megabytes,
and builds are minutes. `--variant` gives a key other values than the recipe has.

At last, what the matrix costs: outputs built once for what they depend on (B of BLAS, C of CUDA, P of Python), beside
every combination built whole, as a recipe of one package does it: B x (1 + C) x P times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.platform import LINUX_64
from slipway.base.text import format_table
from slipway.engines.build_folder import build_root
from slipway.observe.record import BuildRecord, read_records
from slipway.request import DEFAULT_RECIPE, Configurations
from slipway.workflows.graph import Job, make_jobs
from slipway.workflows.scheduler import JobSeconds, Machine, Share, choose_next, urgency
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHECKOUT = Path(__file__).resolve().parents[1]
SLIPWAY = str(CHECKOUT / "slipway")

RECIPE = """\
package:
  name: waits
  version: "1.0"
outputs:
{outputs}"""
OUTPUT = """\
  - name: waits-{number}
    script: build.sh
    about: {{license: MIT}}
"""


@contextmanager
def program(*words: str, until: str, environment: Mapping[str, str]) -> Iterator[str]:
    """A program that runs meanwhile; the line that says `until`."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(environment)
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if until in line:
                    yield line
                    return
            raise SystemExit(f"{' '.join(words)} ended before it said `{until}`")
        finally:
            process.terminate()


def on_top(folder: Path, place: Path, *words: str) -> list[str]:
    """The command `words`, which sees `folder` where others see `place`."""
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    return ["unshare", "--mount", *rights, "sh", "-c", script, "sh", str(folder), str(place), *words]


def write_waiting(recipe: Path, jobs: int, seconds: float) -> None:
    """A recipe of `jobs` jobs that each wait."""
    recipe.mkdir()
    outputs = "".join(OUTPUT.format(number=number) for number in range(jobs))
    (recipe / "meta.yaml").write_text(RECIPE.format(outputs=outputs), encoding="utf-8")
    script = f'sleep {seconds}\nmkdir -p "$PREFIX/share"\necho waited > "$PREFIX/share/$PKG_NAME"\n'
    (recipe / "build.sh").write_text(script, encoding="utf-8")


def measure(workers: int, recipe: Path, dist: Path, *words: str) -> float:
    """Seconds of a run of the recipe's jobs on so many workers with one core each; `words` are its options."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        line = stack.enter_context(
            program(SLIPWAY, "ci", "scheduler", "--port", "0", until="scheduler at", environment=os.environ)
        )
        address = line.split()[-1]
        for number in range(workers):
            place = folder / f"worker-{number}"
            (place / "build").mkdir(mode=0o700, parents=True)
            works = ("ci", "worker", address, "--folder", str(place), "--name", place.name, "--jobs", "1")
            command = on_top(place / "build", build_root(os.environ), SLIPWAY, *works)
            stack.enter_context(program(*command, until=" at ", environment=os.environ))
        started = time.perf_counter()
        command = [SLIPWAY, "ci", "run", str(recipe), "--dist", str(dist), "--on", address, *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started


def measure_waiting(numbers: Sequence[int], jobs: int, seconds: float) -> str:
    """A table of what waiting jobs take with these numbers of workers."""
    rows = []
    for workers in numbers:
        with tempfile.TemporaryDirectory() as name:
            write_waiting(Path(name, "recipe"), jobs, seconds)
            took = measure(workers, Path(name, "recipe"), Path(name, "dist"))
        least = -(-jobs // workers) * seconds
        rows.append((str(workers), f"{took:.1f}", f"{least:.1f}", f"{(took - least) * workers / jobs:.1f}"))
    return format_table(("workers", "seconds", "of these waited", "others per job"), rows, right=(1, 2, 3))


def measure_matrix(numbers: Sequence[int], dist: Path, variants: Mapping[str, Sequence[str]]) -> str:
    """A table of what this checkout's recipe takes with these numbers of workers."""
    words = ["--no-home-config", *(["--variants", json.dumps(variants)] if variants else [])]
    rows = []
    for workers in numbers:
        took = measure(workers, DEFAULT_RECIPE, dist / str(workers), *words)
        jobs = JobSeconds(dist / str(workers) / "ci" / "journal.json").seconds.values()
        rows.append((str(workers), f"{took:.0f}", str(len(jobs)), f"{sum(jobs):.0f}", f"{sum(jobs) / took:.1f}"))
    return format_table(("workers", "seconds", "jobs", "seconds of jobs", "at once"), rows, right=(1, 2, 3, 4))


def simulate(jobs: Sequence[Job], seconds: Mapping[str, float], workers: int) -> float:
    """Seconds until the last job ends, if each takes what `seconds` says by its output's name."""
    settings = load_settings()
    machines = [Machine(1e9, 1, 1, str(number)) for number in range(workers)]
    urgent = urgency(jobs, {job.name: seconds[job.output.name] for job in jobs}, settings)
    waiting, done = sorted(jobs, key=lambda job: -urgent[job]), set[Job]()
    running: dict[Share, float] = {}
    now = 0.0
    while waiting or running:
        ready = [job for job in waiting if done.issuperset(job.needs)]
        for share in choose_next(ready, list(running), machines, settings):
            waiting.remove(share.job)
            running[share] = now + seconds[share.job.output.name]
        first = min(running, key=lambda share: running[share])
        now = running.pop(first)
        done.add(first.job)
    return now


def matrix(variants: Mapping[str, Sequence[str]]) -> tuple[Job, ...]:
    """The jobs of the recipe, with `variants` over its own."""
    configurations = Configurations(variants=dict(variants) or None)
    return make_jobs(configurations.render(DEFAULT_RECIPE, LINUX_64, environ={}).outputs, LINUX_64.subdir)


def slowest_builds(dist: Path) -> dict[str, BuildRecord]:
    """By output, the record of its slowest build, of `ship` or of jobs."""
    slowest: dict[str, BuildRecord] = {}
    for record in [record for logs in dist.rglob("logs") for record in read_records(logs)]:
        known = slowest.get(record.name)
        slowest[record.name] = record if known is None or record.seconds > known.seconds else known
    return slowest


def compare(jobs: Sequence[Job], records: Mapping[str, BuildRecord]) -> list[tuple[str, ...]]:
    """The cost of the matrix as it is, and of every combination built whole."""
    steps = {name: sum(step.kind == "compile" for step in record.steps) for name, record in records.items()}
    number = Counter(job.output.name for job in jobs)
    blas, cuda, python = number["libtorch"], number["libtorch-cuda"], number["pytorch"]

    def row(title: str, libtorch: int, plugin: int, bindings: int) -> tuple[str, ...]:
        times = {"libtorch": libtorch, "libtorch-cuda": plugin, "pytorch": bindings}
        compiled = sum(steps[name] * count for name, count in times.items() if count)
        took = sum(records[name].seconds * count for name, count in times.items() if count)
        return title, str(compiled), f"{took:.0f}"

    # A whole build with CUDA also compiles libtorch and the bindings, and each once more for every BLAS and Python.
    whole = blas * (1 + cuda) * python
    return [
        row(f"once each: {blas} + {cuda} + {python}", blas, cuda, python),
        row(f"whole: {blas} x (1 + {cuda}) x {python}", whole, blas * cuda * python, whole),
    ]


def print_simulation(dist: Path, widths: Sequence[int], variants: Mapping[str, Sequence[str]]) -> None:
    """Say what the matrix takes on so many workers, and what it costs, by the records of `dist`."""
    jobs = matrix(variants)
    records = slowest_builds(dist)
    missing = {job.output.name for job in jobs} - records.keys()
    if missing:
        raise SystemExit(f"{dist} has no record of a build of {', '.join(sorted(missing))}")
    seconds = {name: record.seconds for name, record in records.items()}
    alone = simulate(jobs, seconds, 1)
    rows = []
    for width in widths:
        took = simulate(jobs, seconds, width)
        rows.append((str(width), f"{took:.0f}", f"{alone / took:.1f}", f"{alone / took / width:.0%}"))
    chain = max(urgency(jobs, {job.name: seconds[job.output.name] for job in jobs}, load_settings()).values())
    print(f"{len(jobs)} jobs; the longest chain takes {chain:.0f} s, all of them {alone:.0f} s")
    print(format_table(("workers", "seconds", "times faster", "busy"), rows, right=(1, 2, 3)))
    print()
    print(format_table(("how", "compile steps", "seconds"), compare(jobs, records), right=(1, 2)))


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], metavar="N")
    parser.add_argument("--jobs", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S")
    parser.add_argument("--matrix", type=Path, metavar="DIST")
    parser.add_argument("--simulate", type=Path, metavar="DIST")
    parser.add_argument("--width", type=int, nargs="+", default=[1, 2, 4, 16, 64], metavar="N")
    parser.add_argument("--variant", action="append", default=[], metavar="KEY=V1,V2")
    arguments = parser.parse_args()
    variants = {key: values.split(",") for key, _, values in (text.partition("=") for text in arguments.variant)}
    if arguments.matrix is not None:
        print(measure_matrix(arguments.workers, arguments.matrix, variants))
    elif arguments.simulate is not None:
        print_simulation(arguments.simulate, arguments.width, variants)
    else:
        print(measure_waiting(arguments.workers, arguments.jobs, arguments.seconds))


if __name__ == "__main__":
    main()
