"""Measures `slipway verify` over every package of the channel: reading, solving, judging, per package and together.

    python bench/verify.py [--dist DIR] [--repeat N]

Run it with slipway's own Python (`.venv/bin/python`), after `./slipway ship`. The best of N runs counts; nothing is
kept between them but the system's file cache.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "ci"))

from slipway.base.log import NullReporter  # noqa: E402
from slipway.channel.environments import solve  # noqa: E402
from slipway.channel.folder import Channel  # noqa: E402 - found in the checkout
from slipway.commands.verify import selection_of  # noqa: E402
from slipway.console import format_table, human_size  # noqa: E402
from slipway.request import embedded_channel  # noqa: E402
from slipway.verify import Verifier  # noqa: E402

Answer = TypeVar("Answer")


def best(repeat: int, work: Callable[[], Answer]) -> tuple[float, Answer]:
    """The shortest time of `repeat` runs in milliseconds, and the last answer."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        answer = work()
        times.append(1000 * (time.perf_counter() - started))
    return min(times), answer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=CHECKOUT / "dist", help="output folder with the channel")
    parser.add_argument("--repeat", type=int, default=5, help="how often each step runs")
    arguments = parser.parse_args()
    folder = arguments.dist.resolve() / "channel"
    packages = Channel(folder).packages()
    if not packages:
        raise SystemExit(f"{folder} holds no package: run ./slipway ship")
    verifier = Verifier()
    rows = []
    for path in packages:
        reading, facts = best(arguments.repeat, lambda path=path: verifier.facts(path))
        embedded = embedded_channel(selection_of(facts), NullReporter(), offline=False)
        spec = f"{facts.package} =={facts.index['version']} {facts.index['build']}"
        channels = (Channel(folder).url, embedded.url)
        solving, solution = best(arguments.repeat, lambda spec=spec, channels=channels: solve([spec], channels))
        looking, around = best(
            arguments.repeat,
            lambda facts=facts, solution=solution: verifier.surroundings(solution.packages, facts, previous_in=folder),
        )
        judging, findings = best(arguments.repeat, lambda facts=facts, around=around: verifier.judge(facts, around))
        symbols = sum(len(entry.elf.exports) for entry in facts.files if entry.elf)
        rows.append(
            (path.stem, human_size(facts.size), str(len(facts.files)), str(symbols), f"{reading:.0f}", f"{solving:.0f}",
             f"{looking:.0f}", f"{judging:.0f}", str(len(findings)))
        )  # fmt: skip
    header = ("package", "size", "files", "symbols", "read ms", "solve ms", "around ms", "judge ms", "findings")
    print(format_table(header, rows, right=tuple(range(1, len(header)))))
    command = [str(CHECKOUT / "slipway"), "verify", "--dist", str(arguments.dist)]
    whole, _ = best(arguments.repeat, lambda: subprocess.run(command, capture_output=True, check=False))
    print(f"\n`slipway verify` of all {len(packages)}, from the prompt to the answer: {whole / 1000:.2f} s")


if __name__ == "__main__":
    main()
