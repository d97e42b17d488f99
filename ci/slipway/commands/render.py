"""Show every package that a recipe makes, with its requirements and hash.

Reads meta.yaml and the variant configurations as conda-build does; builds and downloads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.text import printable
from slipway.commands._options import add_platform_argument, add_request_arguments, request_of
from slipway.recipe.hashes import as_json

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter
    from slipway.model import RenderedOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one object, keyed by name-version-build")
    add_platform_argument(parser)
    add_request_arguments(parser, whole_matrix=True)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    outputs = request_of(arguments).matching()
    if arguments.json:
        print(as_json({output.key: dict(output.listing) for output in outputs}))
        return 0
    for output in outputs:
        print("\n".join(map(printable, _lines(output))))
    print(f"{len(outputs)} package{'' if len(outputs) == 1 else 's'}")
    return 0


def _lines(output: RenderedOutput) -> list[str]:
    lines = [f"{output.subdir}/{output.key}"]
    if output.hash_input:
        used = ", ".join(f"{key} {value}" for key, value in sorted(output.hash_input.items()))
        lines.append(f"  hash of  {used}")
    sections = {
        "build": output.requirements.build,
        "host": output.requirements.host,
        "run": output.requirements.run,
        "run_constrained": output.requirements.run_constrained,
        "run_exports": (*output.run_exports.strong, *output.run_exports.weak, *output.run_exports.noarch),
    }
    lines += [f"  {name:<8} {', '.join(specs)}" for name, specs in sections.items() if specs]
    return [*lines, ""]
