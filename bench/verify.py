"""Measures `slipway verify` over every package of the channel: reading, solving, judging, per package and together.

    ./slipway bench verify [--dist DIR] [--repeat N]

Run it after `./slipway ship`. The best of N runs counts; nothing is
kept between them but the system's file cache.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

from slipway.base.log import NullReporter
from slipway.base.text import format_table, human_size
from slipway.bootstrap.embedded import embedded_channel
from slipway.channel.environments import solve
from slipway.channel.folder import Channel
from slipway.commands.verify import embedded_variant
from slipway.verify.verifier import Verifier

CHECKOUT = Path(__file__).resolve().parents[1]

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
        reading, facts = best(arguments.repeat, partial(verifier.facts, path))
        embedded = embedded_channel(embedded_variant(facts), NullReporter(), offline=False)
        spec = f"{facts.package} =={facts.index['version']} {facts.index['build']}"
        channels = (Channel(folder).url, embedded.url)
        solving, solution = best(arguments.repeat, partial(solve, [spec], channels))
        looking, around = best(
            arguments.repeat,
            partial(verifier.surroundings, solution.packages, facts, previous_in=folder),
        )
        judging, findings = best(arguments.repeat, partial(verifier.judge, facts, around))
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
