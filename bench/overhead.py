"""Measures what packaging costs beside compiling: the four trivial outputs of a recipe, from the recipe to the channel.

    ./slipway bench overhead [--runs N]

The recipe is tests/golden/conda-build/additive, as it is: its
scripts write one file each, so all the time is rendering, solving, making environments, packing, testing, verifying and
indexing. Its four outputs are for two CUDA versions, so they take two calls of `slipway ship`. The real
conda-build 26.7 took 46 s for `conda build` of the same recipe on two cores, without verifying.

*cold*: an empty cache of unpacked packages and an empty output folder. *warm*: an empty output folder alone. *again*:
nothing changed. The channels that the environments come from are there in all cases.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from slipway.base.log import NullReporter
from slipway.bootstrap.embedded import embedded_channel
from slipway.channel.folder import Channel

CHECKOUT = Path(__file__).resolve().parents[1]

RECIPE = CHECKOUT / "tests" / "golden" / "conda-build" / "additive"
CUDA_VERSIONS = ("12.4", "13.0")
OUTPUTS = 4


def slipway(*words: str | Path, environment: dict[str, str]) -> float:
    """Seconds that one call took."""
    started = time.perf_counter()
    completed = subprocess.run(
        [CHECKOUT / "slipway", *words], env=environment, text=True, capture_output=True, check=False
    )
    took = time.perf_counter() - started
    if completed.returncode != 0:
        raise SystemExit(completed.stdout + completed.stderr)
    return took


def make_cuda_versions(folder: Path, environment: dict[str, str]) -> str:
    """A channel with the package `cuda-version` in both versions, which is all of CUDA that the recipe needs."""
    for version in CUDA_VERSIONS:
        recipe = folder / f"cuda-version-{version}"
        recipe.mkdir(parents=True)
        text = f'package:\n  name: cuda-version\n  version: "{version}"\nabout:\n  license: MIT\n'
        (recipe / "meta.yaml").write_text(text, encoding="utf-8")
        slipway("ship", recipe, "--dist", folder / "dist", environment=environment)
    return Channel(folder / "dist" / "channel").url


def measure(dist: Path, channels: tuple[str, ...], environment: dict[str, str]) -> float:
    """Seconds from the command to four judged packages in the channel."""
    options = [word for url in channels for word in ("--channel", url)]
    took = sum(
        slipway("ship", RECIPE, "--cuda", version, *options, "--dist", dist, environment=environment)
        for version in CUDA_VERSIONS
    )
    made = sorted(path.stem for path in (dist / "channel").glob("*/*.conda"))
    if len(made) != OUTPUTS:
        raise SystemExit(f"expected {OUTPUTS} packages, not {made}")
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often; the best counts")
    arguments = parser.parse_args()
    embedded = embedded_channel({}, NullReporter(), offline=False)
    figures: dict[str, list[float]] = {"cold": [], "warm": [], "again": []}
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as name:
        folder = Path(name)
        environment = dict(os.environ) | {"SLIPWAY_BUILD_FOLDER": str(folder / "build")}
        channels = (embedded.url, make_cuda_versions(folder / "versions", environment))
        for run in range(arguments.runs):
            own = environment | {"XDG_CACHE_HOME": str(folder / f"cache-{run}")}
            figures["cold"].append(measure(folder / f"cold-{run}", channels, own))
            figures["warm"].append(measure(folder / f"warm-{run}", channels, own))
            figures["again"].append(measure(folder / f"warm-{run}", channels, own))
    print(f"{OUTPUTS} trivial outputs in {len(CUDA_VERSIONS)} calls of `slipway ship`, {os.cpu_count()} cores")
    for title, seconds in figures.items():
        print(f"{title:<8} {min(seconds):8.2f} s   (of {', '.join(f'{each:.2f}' for each in seconds)})")
    print("conda-build 26.7: 46 s")


if __name__ == "__main__":
    main()
