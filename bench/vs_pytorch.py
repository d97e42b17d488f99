"""Times this torch and another one in one run, turn by turn: calls, kernels, layers, transforms, programs, loading.

    ./slipway bench vs_pytorch --peer PYTHON [--quick] [--threads 1 2] [--sections kernels layers] [--match TEXT]

PYTHON is an interpreter that imports the other torch. Each torch works in a process of its own; both time the same case
in short rounds, alternately, and the best round of each counts: other work on the machine only adds. Rounds go on until
the two best ones of each torch agree, or for a while. Between rounds threads, if there are several, go to sleep. With
one thread it is the processor's time that counts, with several the clock's. A ratio under 1 says that this torch is
faster.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

SECTIONS = (
    "calls",
    "kernels",
    "operators",
    "layers",
    "convolutions",
    "transforms",
    "steps",
    "programs",
    "loader",
    "import",
    "memory",
)
QUICK = {"kernels": r", large$|, medium$|, large bfloat16$", "convolutions": r"^(?!.*last).*$"}
FACTOR = 4  # as many times the rounds, at most, until the best ones agree
LEAST = 2  # rounds of calls that alone take all that time
AGREEMENT = 1.03  # of the second best round with the best one
HERE = Path(__file__).resolve().parent


class Worker:
    """A process that imports one torch and answers commands; told of its end by `stop`."""

    def __init__(self, python: str, *, ours: bool) -> None:
        self.python = python
        # What leads this process to our torch must not lead the other one to it.
        environment = {key: value for key, value in os.environ.items() if ours or not key.startswith("PYTHON")}
        program = f"import sys; sys.path.insert(0, {str(HERE)!r}); import vs_pytorch_cases; vs_pytorch_cases.main()"
        self.process = subprocess.Popen(
            [python, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.greeting: dict[str, Any] = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process of {self.python} ended with exit code {self.process.wait()}")
        return json.loads(line)

    def ask(self, *command: object) -> Any:
        """What the process answers to a command with its arguments."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def stop(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Figure:
    """One case: what was measured of both, round by round; seconds, or MiB of memory."""

    section: str
    name: str
    threads: int
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    error: str = ""

    @property
    def settled(self) -> bool:
        """Whether both torches came close to their best round twice."""
        return all(sorted(rounds)[1] <= min(rounds) * AGREEMENT for rounds in (self.ours, self.theirs))

    @property
    def ratio(self) -> float:
        """Ours over theirs, of the best rounds."""
        return min(self.ours) / min(self.theirs)


@dataclass(frozen=True)
class Settings:
    """How long is measured."""

    ours: str
    peer: str
    rounds: int
    seconds: float

    def start(self) -> tuple[Worker, Worker]:
        """Both torches, each in a new process."""
        return Worker(self.ours, ours=True), Worker(self.peer, ours=False)

    def versions(self) -> list[str]:
        """Those of both torches."""
        workers = self.start()
        for worker in workers:
            worker.stop()
        return [worker.greeting["version"] for worker in workers]


def time_section(settings: Settings, section: str, wanted: re.Pattern[str], threads: int) -> Iterator[Figure]:
    """Each case of a section that is wanted, in both torches by turns."""
    workers = settings.start()
    names = [name for name in workers[0].ask("section", section) if wanted.search(name)]
    workers[1].ask("section", section)
    for worker in workers:
        worker.ask("threads", threads)
    clock = 1 if threads == 1 and section not in ("programs", "loader") else 0
    for name in names:
        figure = Figure(section, name, threads)
        answers = [worker.ask("prepare", name) for worker in workers]
        errors = [
            f"{who}: {answer['error']}"
            for who, answer in zip(("ours", "peer"), answers, strict=True)
            if "error" in answer
        ]
        if errors:
            figure.error = "; ".join(errors)
            yield figure
            continue
        # Enough calls for the clock, from short rounds first: the first call alone also pays for what is made once, and
        # a round that the scheduler has interrupted would leave one call to each of those that follow.
        counts = []
        for worker, answer in zip(workers, answers, strict=True):
            tried = max(1, int(settings.seconds / 5 / answer["seconds"]))
            trials = range(3 if tried > 1 else 0)
            best = min((worker.ask("measure", tried)[0] for _ in trials), default=answer["seconds"])
            counts.append(max(1, int(settings.seconds / best)))
        # Many rounds where they differ: a best one is then found also on a machine that has other work. Few of what
        # takes long, which is as good as many short calls.
        spent, most = 0.0, settings.rounds * FACTOR * settings.seconds
        while len(figure.ours) < LEAST or (spent < most and (len(figure.ours) < settings.rounds or not figure.settled)):
            for worker, count, rounds in zip(workers, counts, (figure.ours, figure.theirs), strict=True):
                taken = worker.ask("measure", count)
                rounds.append(taken[clock])
                spent += taken[0] * count / 2
        yield figure
    for worker in workers:
        worker.stop()


def time_import(settings: Settings) -> Iterator[Figure]:
    """`import torch` in new processes: seconds, and the memory that is resident after it."""
    took, resident = Figure("import", "import torch", 1), Figure("memory", "import torch", 1)
    for _ in range(settings.rounds + 1):
        for worker, seconds, memory in zip(
            settings.start(), (took.ours, took.theirs), (resident.ours, resident.theirs), strict=True
        ):
            seconds.append(worker.greeting["import"])
            memory.append(worker.ask("peak"))
            worker.stop()
    yield took
    yield resident


def measure_memory(settings: Settings, wanted: re.Pattern[str]) -> Iterator[Figure]:
    """The peak of a process that makes a few training steps, beyond what importing torch takes."""
    lister = Worker(settings.ours, ours=True)
    names = lister.ask("section", "steps")
    lister.stop()
    for name in filter(wanted.search, names):
        figure = Figure("memory", name, 1)
        for worker, peaks in zip(settings.start(), (figure.ours, figure.theirs), strict=True):
            worker.ask("threads", 1)
            worker.ask("section", "steps")
            before = worker.ask("peak")
            worker.ask("prepare", name)
            worker.ask("measure", 3)
            peaks.append(worker.ask("peak") - before)
            worker.stop()
        yield figure


def measure_all(settings: Settings, options: argparse.Namespace) -> Iterator[Figure]:
    """All sections that were asked for."""
    for section in options.sections:
        wanted = re.compile(options.match or (QUICK.get(section, "") if options.quick else ""))
        if section == "import":
            yield from time_import(settings)
        elif section == "memory":
            yield from measure_memory(settings, wanted)
        else:
            for threads in options.threads:
                yield from time_section(settings, section, wanted, threads)


def shown(value: float, section: str) -> str:
    """A time or a size, in four digits and its unit."""
    if section == "memory":
        return f"{value:.0f} MiB"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value < 1000 * scale else f"{value / scale:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def print_table(figures: list[Figure], columns: int) -> None:
    """Each section's figures, the worst first, and what they come to."""
    width = min(60, max(24, columns - 32))
    for section, threads in dict.fromkeys((figure.section, figure.threads) for figure in figures):
        found = [figure for figure in figures if (figure.section, figure.threads) == (section, threads)]
        measured = sorted((figure for figure in found if not figure.error), key=lambda figure: -figure.ratio)
        title = section if section in ("import", "memory") else f"{section}, {threads} thread{'s' * (threads > 1)}"
        print(f"\n{title:{width}.{width}}{'ours':>11}{'theirs':>11}{'ratio':>8}")
        for figure in measured:
            sides = "".join(f"{shown(min(side), figure.section):>11}" for side in (figure.ours, figure.theirs))
            print(f"{figure.name:{width}.{width}}{sides}{figure.ratio:8.2f}")
        for figure in found:
            if figure.error:
                print(f"{figure.name}: {figure.error}")
    print(f"\n{'ratios':24}{'cases':>7}{'median':>9}{'worst':>8}{'over 1.15':>11}")
    for section, threads in dict.fromkeys((figure.section, figure.threads) for figure in figures if not figure.error):
        ratios = [
            figure.ratio
            for figure in figures
            if (figure.section, figure.threads) == (section, threads) and not figure.error
        ]
        over = sum(ratio > 1.15 for ratio in ratios)
        title = f"{section}, {threads}"
        print(f"{title:24}{len(ratios):7}{statistics.median(ratios):9.2f}{max(ratios):8.2f}{over:11}")


def draw(figures: list[Figure]) -> str:
    """An SVG: for each section one dot per case, by its ratio on a scale of logarithms."""
    rows = dict.fromkeys((figure.section, figure.threads) for figure in figures if not figure.error)
    left, width, height = 150, 640, 34

    def across(ratio: float) -> float:
        return left + width * (math.log2(min(max(ratio, 1 / 16), 16)) + 4) / 8

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" height="{height * (len(rows) + 2)}" '
        'font-family="sans-serif" font-size="12">'
    ]
    bottom = height * (len(rows) + 1)
    for power in range(-4, 5):
        x = across(2.0**power)
        color = "#888" if power == 0 else "#ddd"
        parts.append(f'<path d="M{x:.0f} 20V{bottom}" stroke="{color}"/>')
        parts.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{2.0**power:g}</text>')
    for number, (section, threads) in enumerate(rows, 1):
        y = height * number
        parts.append(f'<text x="8" y="{y + 4}">{escape(section)}, {threads}</text>')
        for figure in figures:
            if (figure.section, figure.threads) == (section, threads) and not figure.error:
                color = "#c33" if figure.ratio > 1.15 else "#36a"
                parts.append(
                    f'<circle cx="{across(figure.ratio):.1f}" cy="{y}" r="4" fill="{color}" fill-opacity="0.4">'
                    f"<title>{escape(figure.name)}: {figure.ratio:.2f}</title></circle>"
                )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, metavar="PYTHON", help="interpreter of the other torch")
    parser.add_argument(
        "--ours", default=sys.executable, metavar="PYTHON", help="that of this torch (default: the one that runs this)"
    )
    parser.add_argument(
        "--sections", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="NAME", help=", ".join(SECTIONS)
    )
    parser.add_argument("--match", metavar="TEXT", help="only cases whose names this regular expression finds")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1], metavar="N", help="numbers of threads (default: 1)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds: a few minutes")
    parser.add_argument("--rounds", type=int, help="of each torch, at least (default: 9; quick: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rounds of all cases")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a picture (SVG) of the ratios")
    options = parser.parse_args()
    rounds = options.rounds or (5 if options.quick else 9)
    settings = Settings(options.ours, options.peer, rounds, 0.002 if options.quick else 0.005)
    versions = settings.versions()
    print(f"torch {versions[0]} beside {versions[1]}, {os.cpu_count()} processors, {rounds} rounds", flush=True)
    figures = []
    quiet = not sys.stderr.isatty()
    try:
        for figure in measure_all(settings, options):
            figures.append(figure)
            if not quiet:
                print(f"\r\x1b[K{len(figures)} {figure.section}: {figure.name[:50]}", end="", file=sys.stderr)
    except KeyboardInterrupt:  # what was measured is worth having
        print(f"\ninterrupted after {len(figures)} figures", file=sys.stderr)
    if not quiet:
        print("\r\x1b[K", end="", file=sys.stderr)
    print_table(figures, shutil.get_terminal_size((100, 24)).columns)
    if options.json:
        rows = [
            {"section": each.section, "name": each.name, "threads": each.threads}
            | ({"error": each.error} if each.error else {"ours": each.ours, "theirs": each.theirs, "ratio": each.ratio})
            for each in figures
        ]
        options.json.write_text(json.dumps({"versions": versions, "figures": rows}, indent=1) + "\n", encoding="utf-8")
    if options.plot:
        options.plot.write_text(draw(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
