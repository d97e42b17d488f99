"""Say for every package whether it is up to date, new, or changed, and what changed.

That is what `slipway ship` with the same options would build, and why: which file was edited, which dependency moved
from what to what. A package `depends` if it only links one that is to be built: it is built again if that comes with
another interface. Nothing is built. With --matrix, all variants are listed instead, in the order in which they are
built, with the variant keys that each package uses, that is, what it would be built again for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.base.text import printable
from slipway.commands._options import add_platform_argument, add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels
from slipway.pipeline.plan import make_plan
from slipway.recipe.choose import identifier, used_variant
from slipway.recipe.hashes import as_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from slipway.base.log import Reporter
    from slipway.model import RenderedOutput
    from slipway.pipeline.plan import Plan
    from slipway.request import Request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--matrix", action="store_true", help="list every variant; look at no channel")
    parser.add_argument("--json", action="store_true", help="a list of objects, in build order")
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="rattler (default) or conda-build")
    add_platform_argument(parser, builds=True)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print the table; returns the exit code."""
    request = request_of(arguments)
    if arguments.matrix:
        table = rows(request.matching())
        print(as_json(table) if arguments.json else "\n".join(as_table(table)))
        return 0
    plan = _plan(arguments, request, reporter).outputs
    table = rows([planned.output for planned in plan], {planned.output.key: planned.reason for planned in plan})
    if arguments.json:
        for row, planned in zip(table, plan, strict=True):
            row["changes"] = list(planned.changes)
        print(as_json(table))
        return 0
    lines = as_table(table)
    print(lines[0])
    for line, planned in zip(lines[1:], plan, strict=True):
        print("\n".join(map(printable, [line, *(f"     {change}" for change in planned.shown_changes)])))
    return 0


def _plan(arguments: argparse.Namespace, request: Request, reporter: Reporter) -> Plan:
    rendered = request.outputs()
    channels = find_channels(request, rendered, reporter)
    outputs = finalize(request, rendered, channels)
    context = RunContext(request.workspace, load_engine(arguments.engine), channels, reporter)
    return make_plan(outputs, context.plan_inputs())


def rows(outputs: Sequence[RenderedOutput], states: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """One row per output.

    Args:
        outputs: in build order.
        states: what is known of each, by `RenderedOutput.key`: up to date, new, changed, depends.
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
