"""Say why a package is in an environment: the chain of requirements that leads to it.

slipway why pytorch libgomp     how pytorch comes to need libgomp, by the shortest way
slipway why libgomp             every package that asks for libgomp itself
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.paths import Workspace
from slipway.base.text import printable
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from slipway.base.log import Reporter

Depends = dict[str, dict[str, str]]
"""Package to what it asks for: name to match spec."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="who needs it, and what; or what alone")
    parser.add_argument("--prefix", type=Path, metavar="DIR", help="the environment (default: dist/env)")
    parser.add_argument("--dist", metavar="DIR", help="folder of the environment (default: dist/)")
    parser.add_argument("--json", action="store_true", help="the steps as a list of objects")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print; returns the exit code."""
    if len(arguments.packages) > 2:
        raise UsageError("name one package, or two")
    prefix: Path = (arguments.prefix or Workspace.of_checkout(arguments.dist).environment).resolve()
    depends = read_depends(prefix)
    for name in arguments.packages:
        if name not in depends:
            close = difflib.get_close_matches(name, depends, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {len(depends)} others"
            raise UsageError(f"`{name}` is not in the environment", where=str(prefix), hint=hint)
    wanted = arguments.packages[-1]
    if len(arguments.packages) == 1:
        steps = [(name, specs[wanted]) for name, specs in sorted(depends.items()) if wanted in specs]
    else:
        steps = find_chain(depends, arguments.packages[0], wanted)
    if arguments.json:
        print(json.dumps([{"package": name, "needs": spec} for name, spec in steps], indent=1))
        return 0
    for name, spec in steps:
        print(printable(f"{name} needs {spec}"))
    if not steps:
        by = f"nothing that `{arguments.packages[0]}` needs" if len(arguments.packages) == 2 else "nothing"
        print(printable(f"{by} asks for `{wanted}`"))
    return 0


def read_depends(prefix: Path) -> Depends:
    """What each package of an environment asks for.

    Raises:
        UsageError: there is no environment, or a record of it cannot be read.
    """
    found: Depends = {}
    for path in sorted((prefix / "conda-meta").glob("*.json")):
        try:
            record: Mapping[str, object] = json.loads(path.read_bytes())
            asked = record.get("depends") or []
            assert isinstance(asked, list)
            found[str(record["name"])] = {name_of(str(spec)): str(spec) for spec in asked}
        except (ValueError, KeyError, AssertionError, AttributeError) as error:
            raise UsageError("a package's record cannot be read", where=str(path), hint="install anew") from error
    if not found:
        raise UsageError("there is no environment", where=str(prefix), hint="`slipway install` makes one, see --prefix")
    return found


def find_chain(depends: Depends, start: str, end: str) -> list[tuple[str, str]]:
    """The shortest way from `start` to `end`, as steps of package and match spec; empty where there is none."""
    came_from = {start: ""}
    waiting = [start]
    while waiting and end not in came_from:
        name = waiting.pop(0)
        for other in depends.get(name, {}):
            if other not in came_from:
                came_from[other] = name
                waiting.append(other)
    steps: list[tuple[str, str]] = []
    while end != start and end in came_from:
        steps.insert(0, (came_from[end], depends[came_from[end]][end]))
        end = came_from[end]
    return steps
