"""Writes `expected.json` beside a recipe: what the real conda-build says of it. Never run by tests.

    PYTHON tests/golden/ask_conda_build.py tests/golden/conda-build/CASE...
    .venv/bin/python tests/slipway/solved_channel.py /tmp/channel        (with PYTHONPATH=ci)
    PYTHON tests/golden/ask_conda_build.py --channel file:///tmp/channel tests/golden/solved/CASE...

PYTHON has conda 26.7, conda-build 26.7 and conda-rattler-solver, with ``solver: rattler`` in the condarc that CONDARC
names. Run it in a folder whose conda_build_config.yaml sets `python` to 3.13 and `numpy` to 1.26: conda-build's own
defaults are those of the Python that runs it, slipway's are these.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def ask(recipe: Path, channels: tuple[str, ...]) -> dict[str, Any]:
    """Every output that is not skipped; with channels, after solving, of which only what makes the name is told."""
    from conda_build import api
    from conda_build.config import Config

    config = Config()
    config.override_channels, config.channel_urls = True, channels
    found = api.render(str(recipe), config=config, finalize=bool(channels), bypass_env_check=not channels)
    return {output.dist(): describe(output, solved=bool(channels)) for output, _, _ in found if not output.skip()}


def describe(output: Any, *, solved: bool) -> dict[str, Any]:
    """The keys of `slipway render --json`."""
    named = {"build": output.build_id(), "hash_input": output.get_hash_contents(), "name": output.name()}
    if solved:
        return named
    sections = ("build", "host", "run", "run_constrained")
    return named | {
        "number": int(output.build_number() or 0),
        "requirements": {name: list(output.get_value(f"requirements/{name}")) for name in sections},
        "run_exports": output.get_value("build/run_exports") or None,
        "subdir": output.info_index()["subdir"],
        "version": output.version(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channel", action="append", default=[])
    parser.add_argument("cases", nargs="+", type=Path)
    arguments = parser.parse_args()
    for case in arguments.cases:
        answer = json.dumps(ask(case.resolve(), tuple(arguments.channel)), indent=1, sort_keys=True)
        (case / "expected.json").write_text(answer + "\n", encoding="utf-8")
