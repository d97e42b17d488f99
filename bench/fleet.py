"""Measures `slipway ci run --on` with 1, 2 and 4 workers, and simulates more of them from the times of earlier builds.

    ./slipway bench fleet [--workers 1 2 4] [--jobs N] [--seconds S]
    ./slipway bench fleet --simulate DIST [--width 1 2 4 16 64] [--variant KEY=V1,V2,...]

Measured are jobs that wait for S seconds: the workers are processes of this machine, whose cores cannot be four times
as many. So what is above S times the jobs in a row is what the pipeline itself takes.

Simulated is the matrix of this checkout's recipe on linux-64, by the same choice of jobs (`choose_next`), each output
taking what its last build in DIST/logs took; one worker does one job at a time. `--variant` gives a key more values
than the recipe has. Moving packages takes no time there: they are megabytes, and builds are minutes.

At last, what the matrix costs: outputs built once for what they depend on (B of BLAS, C of CUDA, P of Python), beside
every combination built whole, as a recipe of one package does it: B x (1 + C) x P times.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.platform import LINUX_64
from slipway.base.text import format_table
from slipway.observe.record import BuildRecord, read_records
from slipway.request import DEFAULT_RECIPE, Configurations
from slipway.workflows.graph import Job, make_jobs
from slipway.workflows.scheduler import Machine, Share, choose_next, urgency
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
    """A slipway that runs meanwhile; the line that says `until`."""
    with subprocess.Popen(
        [SLIPWAY, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(environment)
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


def measure(workers: int, jobs: int, seconds: float) -> float:
    """Seconds of a run of `jobs` jobs that each wait, on so many workers with one core each."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        recipe = folder / "recipe"
        recipe.mkdir()
        outputs = "".join(OUTPUT.format(number=number) for number in range(jobs))
        (recipe / "meta.yaml").write_text(RECIPE.format(outputs=outputs), encoding="utf-8")
        script = f'sleep {seconds}\nmkdir -p "$PREFIX/share"\necho waited > "$PREFIX/share/$PKG_NAME"\n'
        (recipe / "build.sh").write_text(script, encoding="utf-8")
        line = stack.enter_context(
            program("ci", "scheduler", "--port", "0", until="scheduler at", environment=os.environ)
        )
        address = line.split()[-1]
        for number in range(workers):
            place = folder / f"worker-{number}"
            place.mkdir()
            words = ("ci", "worker", address, "--folder", str(place), "--name", place.name, "--jobs", "1")
            environment = {**os.environ, "SLIPWAY_BUILD_FOLDER": str(place / "build")}
            stack.enter_context(program(*words, until=" at ", environment=environment))
        started = time.perf_counter()
        command = [SLIPWAY, "ci", "run", str(recipe), "--dist", str(folder / "dist"), "--on", address]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started


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


def compare(jobs: Sequence[Job], records: Mapping[str, BuildRecord]) -> list[tuple[str, ...]]:
    """The cost of the matrix as it is, and of every combination built whole."""
    steps = {name: sum(step.kind == "compile" for step in record.steps) for name, record in records.items()}
    number = {name: sum(job.output.name == name for job in jobs) for name in records}
    blas, cuda, python = number["libtorch"], number["libtorch-cuda"], number["pytorch"]

    def row(title: str, libtorch: int, plugin: int, bindings: int) -> tuple[str, ...]:
        times = {"libtorch": libtorch, "libtorch-cuda": plugin, "pytorch": bindings}
        compiled = sum(steps[name] * count for name, count in times.items())
        took = sum(records[name].seconds * count for name, count in times.items())
        return title, str(compiled), f"{took:.0f}"

    # A whole build with CUDA also compiles libtorch and the bindings, and each once more for every BLAS and Python.
    whole = blas * (1 + cuda) * python
    return [
        row(f"once each: {blas} + {cuda} + {python}", blas, cuda, python),
        row(f"whole: {blas} x (1 + {cuda}) x {python}", whole, blas * cuda * python, whole),
    ]


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], metavar="N")
    parser.add_argument("--jobs", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S")
    parser.add_argument("--simulate", type=Path, metavar="DIST")
    parser.add_argument("--width", type=int, nargs="+", default=[1, 2, 4, 16, 64], metavar="N")
    parser.add_argument("--variant", action="append", default=[], metavar="KEY=V1,V2")
    arguments = parser.parse_args()
    if arguments.simulate is None:
        rows = []
        for workers in arguments.workers:
            took = measure(workers, arguments.jobs, arguments.seconds)
            least = -(-arguments.jobs // workers) * arguments.seconds
            rows.append(
                (str(workers), f"{took:.1f}", f"{least:.1f}", f"{(took - least) * workers / arguments.jobs:.1f}")
            )
        print(format_table(("workers", "seconds", "of these waited", "others per job"), rows, right=(1, 2, 3)))
        return
    variants = {key: values.split(",") for key, _, values in (text.partition("=") for text in arguments.variant)}
    jobs = matrix(variants)
    records: dict[str, BuildRecord] = {}
    for record in read_records(arguments.simulate / "logs"):
        known = records.get(record.name)
        records[record.name] = record if known is None or record.seconds > known.seconds else known
    missing = {job.output.name for job in jobs} - records.keys()
    if missing:
        raise SystemExit(f"{arguments.simulate}/logs has no build of {', '.join(sorted(missing))}")
    seconds = {name: record.seconds for name, record in records.items()}
    alone = simulate(jobs, seconds, 1)
    rows = []
    for width in arguments.width:
        took = simulate(jobs, seconds, width)
        rows.append((str(width), f"{took:.0f}", f"{alone / took:.1f}", f"{alone / took / width:.0%}"))
    chain = max(urgency(jobs, {job.name: seconds[job.output.name] for job in jobs}, load_settings()).values())
    print(f"{len(jobs)} jobs; the longest chain takes {chain:.0f} s, all of them {alone:.0f} s")
    print(format_table(("workers", "seconds", "times faster", "busy"), rows, right=(1, 2, 3)))
    print()
    print(format_table(("how", "compile steps", "seconds"), compare(jobs, records), right=(1, 2)))


if __name__ == "__main__":
    main()
