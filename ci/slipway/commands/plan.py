"""Say for every package whether it is up to date, new, or changed, and what changed.

That is what `slipway ship` with the same options would build, and why: which file was edited, which dependency moved
from what to what. Nothing is built. With --matrix, all variants are listed instead, in the order in which they are
built, with the variant keys that each package uses, that is, what it would be built again for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from slipway.base.errors import UsageError
from slipway.base.platform import LINUX_64
from slipway.commands._render_options import add_render_arguments, rendered
from slipway.engines import load_engine
from slipway.pipeline.context import RunContext
from slipway.pipeline.plan import make_plan
from slipway.recipe.choose import identifier, used_variant
from slipway.recipe.hashes import as_json
from slipway.request import Request

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from slipway.base.log import Reporter
    from slipway.model import RenderedOutput
    from slipway.pipeline.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_render_arguments(parser)
    parser.add_argument("--python", metavar="X.Y", help="Python to build for")
    parser.add_argument("--blas", metavar="NAME", help="BLAS to build with: mkl or openblas")
    parser.add_argument("--cuda", metavar="X.Y", help="also what needs CUDA, for this version")
    parser.add_argument("--channel", action="append", metavar="URL", help="as for `slipway ship`")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel that is compared with (default: dist/)")
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="rattler (default) or conda-build")
    parser.add_argument("--matrix", action="store_true", help="list every variant; look at no channel")
    parser.add_argument("--json", action="store_true", help="a list of objects, in build order")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print the table; returns the exit code."""
    if arguments.matrix:
        table = rows(rendered(arguments))
        print(as_json(table) if arguments.json else "\n".join(as_table(table)))
        return 0
    plan = _plan(arguments, reporter).outputs
    table = rows([planned.output for planned in plan], {planned.output.key: planned.reason for planned in plan})
    if arguments.json:
        for row, planned in zip(table, plan, strict=True):
            row["changes"] = list(planned.changes)
        print(as_json(table))
        return 0
    lines = as_table(table)
    print(lines[0])
    for line, planned in zip(lines[1:], plan, strict=True):
        print("\n".join([line, *(f"     {change}" for change in planned.shown_changes)]))
    return 0


def _plan(arguments: argparse.Namespace, reporter: Reporter) -> Plan:
    if arguments.variants is not None or arguments.platform != LINUX_64.subdir:
        raise UsageError("--variants and --platform say what to render", hint="add --matrix, or leave them out")
    arguments.variant_config = arguments.variant_configs
    arguments.exclusive_config = arguments.exclusive_configs[-1] if arguments.exclusive_configs else None
    request = Request.of(arguments)
    outputs = request.outputs()
    channels = request.build_channels(reporter)
    outputs = request.finalized(outputs, channels)
    context = RunContext(
        workspace=request.workspace,
        engine=load_engine(arguments.engine),
        channels=channels,
        environ=dict(os.environ),
        reporter=reporter,
        jobs=1,
    )
    return make_plan(outputs, context.plan_inputs())


def rows(outputs: Sequence[RenderedOutput], states: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """One row per output.

    Args:
        outputs: in build order.
        states: what is known of each, by `RenderedOutput.key`: up to date, new, changed.
    """
    return [
        {
            "order": position,
            "package": output.key,
            "variant": identifier(output),
            "subdir": output.subdir,
            "uses": used_variant(output),
            **({"state": states[output.key]} if states is not None else {}),
        }
        for position, output in enumerate(outputs, start=1)
    ]


def as_table(table: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as aligned text."""
    heads = ["", "package", "subdir", *(["state"] if any("state" in row for row in table) else []), "uses"]
    cells = [heads] + [
        [
            str(row["order"]),
            str(row["package"]),
            str(row["subdir"]),
            *([str(row["state"])] if "state" in row else []),
            ", ".join(f"{key} {value}" for key, value in row["uses"].items()),
        ]
        for row in table
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
