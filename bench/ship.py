"""Measures `slipway ship` as a user meets it: cold, again, with CUDA on top; and what it makes.

    ./slipway bench ship [--keep-downloads] [--cuda 13.0] [--keep DIR]

Works in temporary folders (cache, output) with a copy of nothing but the tracked files, so that the run is cold: the
locked environment, the channel and every package are made anew. `--keep-downloads` takes the user's downloads over
(then it is the network alone that is not measured). `--keep DIR` leaves the output there for a look.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
# The stages of plain output that are worth a row: the channel, each output, the installation.
STAGE = re.compile(r"^\[ *[\d.]+\] (?P<title>\S.*): done in (?P<took>.+)$")


def clone(target: Path) -> None:
    """A clone of the checkout's last commit, without what was built in it."""
    subprocess.run(["git", "clone", "--quiet", "--local", str(CHECKOUT), str(target)], check=True)


def ship(checkout: Path, dist: Path, environment: dict[str, str], *options: str) -> tuple[float, list[tuple[str, str]]]:
    """Seconds that one `slipway ship` took, and its stages as (title, time)."""
    started = time.perf_counter()
    completed = subprocess.run(
        ["./slipway", "ship", "--dist", str(dist), *options],
        cwd=checkout, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    took = time.perf_counter() - started
    if completed.returncode != 0:
        raise SystemExit(completed.stdout + f"\n`slipway ship` failed with exit code {completed.returncode}")
    matches = map(STAGE.match, completed.stdout.splitlines())
    return took, [(match["title"], match["took"]) for match in matches if match]


def folder_size(folder: Path) -> int:
    """Bytes of all files below `folder`, hard links once."""
    seen = {(status.st_dev, status.st_ino): status.st_size for status in map(os.lstat, folder.rglob("*"))}
    return sum(seen.values())


def installed_size(prefix: Path, name: str) -> int:
    """Bytes that one installed package has in an environment, by its record in conda-meta."""
    (record,) = (prefix / "conda-meta").glob(f"{name}-[0-9]*.json")
    return sum((prefix / file).lstat().st_size for file in json.loads(record.read_text())["files"])


def report(title: str, took: float, stages: list[tuple[str, str]]) -> None:
    """Print one run."""
    print(f"{title:<58} {took:8.1f} s")
    for stage, stage_took in stages:
        print(f"    {stage:<54} {stage_took:>10}")


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--keep-downloads", action="store_true")
    parser.add_argument("--cuda", metavar="VERSION")
    parser.add_argument("--keep", metavar="DIR", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        work = Path(folder)
        dist = arguments.keep.resolve() if arguments.keep else work / "dist"
        cache = work / "cache"
        if arguments.keep_downloads:
            user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slipway"
            for name in ("downloads", "apt"):
                shutil.copytree(user_cache / name, cache / "slipway" / name)
        environment = dict(os.environ) | {"XDG_CACHE_HOME": str(cache)}
        clone(work / "checkout")
        print(f"{os.cpu_count()} cores")
        report("cold `ship`, with .venv", *ship(work / "checkout", dist, environment))
        report("second `ship`", *ship(work / "checkout", dist, environment))
        print("\npackages")
        for package in sorted((dist / "channel").rglob("*.conda")):
            print(f"    {package.name:<54} {package.stat().st_size / 1e6:8.2f} MB")
        print("\ninstalled")
        prefix = dist / "env"
        for name in ("libtorch", "pytorch"):
            print(f"    {name:<54} {installed_size(prefix, name) / 1e6:8.2f} MB")
        print(f"    {'the whole environment, with Python and MKL':<54} {folder_size(prefix) / 1e6:8.2f} MB")
        if arguments.cuda:
            option = ("--cuda", arguments.cuda)
            report(f"`ship --cuda {arguments.cuda}` on top", *ship(work / "checkout", dist, environment, *option))


if __name__ == "__main__":
    main()
