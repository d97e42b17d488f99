"""Print a recipe's matrix: one row per package, in the order in which they are built.

Says which variant keys each package uses, that is, what it would be built again for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.recipe.choose import identifier, used_variant
from slipway.recipe.hashes import as_json
from slipway.recipe.options import add_render_arguments, rendered

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from slipway.log import Reporter
    from slipway.model import RenderedOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_render_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list of objects, in build order")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    table = rows(rendered(arguments))
    if arguments.json:
        print(as_json(table))
        return 0
    print("\n".join(as_table(table)))
    return 0


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
