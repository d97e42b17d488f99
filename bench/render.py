"""Measures rendering: each golden recipe, our own matrix, and each from the prompt to the answer.

    ./slipway bench render [--repeat N]

*first* is a recipe's first rendering in a process, with nothing
prepared but the imports; *best* the shortest of N further ones, each from the files on. *prompt* is a whole
`slipway render --json`, interpreter and imports included.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

from slipway.base.platform import LINUX_64
from slipway.base.text import format_table
from slipway.recipe import load_recipe, render

CHECKOUT = Path(__file__).resolve().parents[1]

RECIPES = (*sorted((CHECKOUT / "tests" / "golden" / "conda-build").glob("*/")), CHECKOUT / "recipe")


def milliseconds(recipe: Path) -> tuple[float, int]:
    """How long one rendering took, and how many packages it makes."""
    started = time.perf_counter()
    outputs = render(load_recipe(recipe), platform=LINUX_64, environ={})
    return 1000 * (time.perf_counter() - started), len(outputs)


def from_the_prompt(recipe: Path) -> float:
    """Milliseconds of the command."""
    started = time.perf_counter()
    command = [str(CHECKOUT / "slipway"), "render", str(recipe), "--channel", "conda-forge", "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - started)


def main() -> None:
    """Measure and print, the largest matrix last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20, help="how often each is rendered again")
    arguments = parser.parse_args()
    rows = []
    for recipe in RECIPES:
        first, packages = milliseconds(recipe)
        best = min(milliseconds(recipe)[0] for _ in range(arguments.repeat))
        prompt = min(from_the_prompt(recipe) for _ in range(3))
        name = recipe.relative_to(CHECKOUT).as_posix()
        rows.append((packages, (name, str(packages), f"{first:.1f}", f"{best:.1f}", f"{prompt:.0f}")))
    header = ("recipe", "packages", "first ms", "best ms", "prompt ms")
    print(format_table(header, [row for _, row in sorted(rows)], right=(1, 2, 3, 4)))


if __name__ == "__main__":
    main()
