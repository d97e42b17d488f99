"""Lets Ninja start the longest steps first, by the seconds that earlier builds of the output took.

Ninja starts, of the steps that are ready, the one with the most steps behind it (since 1.12; each counts as one), and
among equals the one whose ``build`` statement stands first. CMake writes statements by target and file name, so a file
that takes longest may well be the last one, and every processor but one waits for it at the end.

The only moment at which this can be changed for any recipe, whatever its script calls (``cmake --build``, ``ninja``,
Meson, a setup.py), is when Ninja is started. So a build finds a ``ninja`` of three lines in front on PATH: it lets
`main` sort the statements of the ``build.ninja`` there, and then becomes the real one. What it cannot change:

- *Bytes*: a statement moves as a whole, its inputs and so every command stay as they are, and with them the order in
  which things are linked. Statements move only among each other, never across a variable, a rule or an include. The
  file keeps its time, so that Ninja does not ask CMake for another one.
- *Digests*: nothing here is part of what a package is made from. The front is there with and without a history, so
  that what is configured does not depend on one.
- *Success*: whatever goes wrong is said, and the build goes on in the order that the file has.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from slipway.base.checkout import PACKAGE_ROOT
from slipway.observe.ninja import Edge, parse_build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FRONT = """\
# The longest steps of earlier builds go first, see slipway.observe.longest_first.
if slipway_ninja=$(type -P ninja); then
  mkdir -p @TOOLS@
  cat > @TOOLS@/ninja <<END
#!/bin/sh
case " \\$* \\$PWD/" in
  *" -t "* | *" --version "* | */CMakeFiles/CMakeScratch/* | */CMakeFiles/CMakeTmp/*) ;;
  *) [ ! -s @SECONDS@ ] || @PYTHON@ -I -S -c @PROGRAM@ @SECONDS@ "\\$@" ;;
esac
exec $slipway_ninja "\\$@"
END
  chmod +x @TOOLS@/ninja
  PATH=@TOOLS@:$PATH
fi
unset slipway_ninja"""
"""Bash, run where the build's own environment is active: puts our ``ninja`` in front, if there is one at all.

CMake asks Ninja for its version, for its tools, and to build small probes; none of that is worth a start of Python.
"""

_BUILD_FILE = "build.ninja"
_CONTINUED = re.compile(r"(?<!\$)(?:\$\$)*\$\n\Z")


def front(tools: PurePath, seconds: PurePath) -> str:
    """The lines of a build script that put our ``ninja`` in front.

    Args:
        tools: folder that is made for it; the same in every build of an output.
        seconds: JSON file of output path -> seconds; an empty one, or none, means that nothing is known.
    """
    program = f"import sys; sys.path.insert(0, {str(PACKAGE_ROOT)!r}); from {__name__} import main; main(sys.argv[1:])"
    values = {
        "@TOOLS@": shlex.quote(str(tools)),
        "@SECONDS@": shlex.quote(str(seconds)),
        "@PYTHON@": shlex.quote(sys.executable),
        "@PROGRAM@": shlex.quote(program),
    }
    text = FRONT
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def longest_first(text: str, seconds: Mapping[str, float]) -> str:
    """A Ninja file with the same statements, those with the longest work behind them first.

    A step weighs what it took; its place is decided by the heaviest chain from its start to the end of the build. One
    that nobody knows weighs as much as the heaviest of its rule: if it is short, an early start costs nothing, and if
    it is long, a late one costs much.

    Args:
        seconds: by output path, as the file names it.

    Returns:
        The same text where nothing is known of its steps, or where it is not understood.
    """
    parts, movable = _split(text)
    edges = parse_build(text)
    places = [index for run in movable for index in run]
    if len(edges) != len(places) or not any(output in seconds for edge in edges for output in edge.outputs):
        return text
    try:
        weight = dict(zip(places, _chains(edges, seconds), strict=True))
    except CycleError:
        return text  # Ninja says it better
    sorted_parts = list(parts)
    for run in movable:
        for place, source in zip(run, sorted(run, key=lambda index: -weight[index]), strict=True):
            sorted_parts[place] = parts[source]
    return "".join(sorted_parts)


def _split(text: str) -> tuple[list[str], list[list[int]]]:
    """Statements with all their lines, and runs of indices of those ``build`` statements that may change places."""
    parts: list[str] = []
    movable: list[list[int]] = [[]]
    statement = False
    for line in text.splitlines(keepends=True):
        continued = bool(parts) and _CONTINUED.search(parts[-1]) is not None
        if continued or (statement and line.startswith((" ", "\t")) and line.strip()):
            parts[-1] += line
            continue
        parts.append(line if line.endswith("\n") else line + "\n")
        statement = line.startswith("build ")
        if statement:
            movable[-1].append(len(parts) - 1)
        elif line.strip() and not line.startswith("#"):
            movable.append([])
    return parts, movable


def _chains(edges: Sequence[Edge], seconds: Mapping[str, float]) -> list[float]:
    """For each edge the seconds of the heaviest chain that begins with it."""
    known = [max((seconds[name] for name in edge.outputs if name in seconds), default=None) for edge in edges]
    heaviest: dict[str, float] = {}
    for edge, value in zip(edges, known, strict=True):
        if value is not None:
            heaviest[edge.rule] = max(value, heaviest.get(edge.rule, 0.0))
    maker = {name: index for index, edge in enumerate(edges) for name in edge.outputs}
    users: dict[int, set[int]] = {index: set() for index in range(len(edges))}
    for index, edge in enumerate(edges):
        for name in edge.needs:
            if maker.get(name, index) != index:
                users[maker[name]].add(index)
    chains = [0.0] * len(edges)
    for index in TopologicalSorter(users).static_order():  # those that use it come before it
        value = known[index]
        own = heaviest.get(edges[index].rule, 0.0) if value is None else value
        chains[index] = own + max((chains[user] for user in users[index]), default=0.0)
    return chains


def build_file(words: Sequence[str]) -> Path:
    """The file that Ninja reads when it is started with these words."""
    folder, name = "", _BUILD_FILE
    rest = iter(words)
    for word in rest:
        if word.startswith("-C"):
            folder = word[2:] or next(rest, "")
        elif word.startswith("-f"):
            name = word[2:] or next(rest, _BUILD_FILE)
    return Path(folder, name)


def main(words: Sequence[str]) -> None:
    """Sort the file that Ninja is about to read; `words` are the file of seconds, and Ninja's own."""
    try:
        seconds = {str(key): float(value) for key, value in json.loads(Path(words[0]).read_text("utf-8")).items()}
        path = build_file(words[1:])
        if not path.is_file():
            return
        old, times = path.read_text("utf-8"), path.stat()
        new = longest_first(old, seconds)
        if new != old:
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            beside.write_text(new, "utf-8")
            os.utime(beside, ns=(times.st_atime_ns, times.st_mtime_ns))
            beside.replace(path)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        print(f"slipway: the steps keep the order that they have: {error}", file=sys.stderr)
