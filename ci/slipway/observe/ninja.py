"""What Ninja did and why: its log (which step ran when) and its file (which step needs which).

Formats: the log's versions 5 to 7 as Ninja's manual describes them, and Ninja's own file syntax as CMake writes it.
Both are read here because Ninja's tools need the build folder, and that is gone when a report is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOKEN = re.compile(r"(?:\$[ :$]|\$\{[^}]*\}|[^\s:|$]|\$\w+)+|\|\||\||:")
_ESCAPE = re.compile(r"\$([ :$])")
_NAMED = re.compile(r"\$\{([^}]*)\}|\$(\w+)")


@dataclass(frozen=True)
class Step:
    """One command that ran: what it wrote, and from when to when, in seconds since Ninja started."""

    outputs: tuple[str, ...]
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return self.end - self.start


@dataclass(frozen=True)
class Edge:
    """One ``build`` statement: what it makes, with which rule, from what; `order` must merely be there first."""

    outputs: tuple[str, ...]
    rule: str
    inputs: tuple[str, ...]
    implicit: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """Everything that is made before it."""
        return self.inputs + self.implicit + self.order


def parse_log(text: str) -> list[Step]:
    """The steps of Ninja's last run in the folder, in the order in which they ended.

    Raises:
        ValueError: it is no log of a version that is known.
    """
    lines = text.splitlines()
    found = re.fullmatch(r"# ninja log v(\d+)", lines[0]) if lines else None
    if found is None or not 5 <= int(found[1]) <= 7:
        raise ValueError(f"no Ninja log of version 5 to 7: {lines[0] if lines else 'empty'!r}")
    steps: dict[tuple[int, int, str], list[str]] = {}
    last_end = 0
    for line in lines[1:]:
        words = line.split("\t")
        if len(words) != 5 or not (words[0].isdigit() and words[1].isdigit()):
            continue  # the last line of a log that a kill cut off
        start, end = int(words[0]), int(words[1])
        if end < last_end:
            steps.clear()  # another run of Ninja began, and its clock with it
        last_end = end
        # Files that one command writes have its times and its hash.
        steps.setdefault((start, end, words[4]), []).append(words[3])
    return [Step(tuple(outputs), start / 1000, end / 1000) for (start, end, _), outputs in steps.items()]


def parse_build(text: str) -> list[Edge]:
    """Every ``build`` statement of a Ninja file; what it includes is not read."""
    edges: list[Edge] = []
    variables: dict[str, str] = {}
    scope: dict[str, str] | None = None
    for line in text.replace("$\n", "").splitlines():
        if line.startswith("build "):
            scope = {}
            edge = _edge(line.removeprefix("build "), variables, scope)
            if edge is not None:
                edges.append(edge)
        elif line.startswith("  ") and "=" in line:
            if scope is not None:
                name, _, value = line.partition("=")
                scope[name.strip()] = _plain(value.strip(), variables)
        elif line.strip() and not line.startswith("#"):
            scope = None
            name, equals, value = line.partition("=")
            if equals and re.fullmatch(r"[\w.-]+\s*", name):
                variables[name.strip()] = _plain(value.strip(), variables)
    return edges


def _plain(text: str, variables: Mapping[str, str]) -> str:
    named = _NAMED.sub(lambda found: variables.get(found[1] or found[2], ""), text)
    return _ESCAPE.sub(r"\1", named)


def _edge(text: str, variables: Mapping[str, str], scope: dict[str, str]) -> Edge | None:
    tokens = _TOKEN.findall(text)
    if ":" not in tokens:
        return None
    colon = tokens.index(":")
    if colon + 1 >= len(tokens):
        return None
    outputs = tuple(_plain(token, variables) for token in tokens[:colon] if token != "|")
    parts: dict[str, list[str]] = {"": [], "|": [], "||": []}
    mark = ""
    for token in tokens[colon + 2 :]:
        if token in parts:
            mark = token
        elif token != ":":
            parts[mark].append(_plain(token, variables))
    return Edge(outputs, tokens[colon + 1], tuple(parts[""]), tuple(parts["|"]), tuple(parts["||"]), scope)


def critical_path(steps: Sequence[Step], edges: Sequence[Edge]) -> list[Step]:
    """The chain of steps, each needing the one before, that takes longest: no number of processors is faster.

    Headers that only a compiler's dependency file names do not count; those that are generated, CMake orders.
    """
    took = {output: step for step in steps for output in step.outputs}
    maker = {output: index for index, edge in enumerate(edges) for output in edge.outputs}
    needs = [{maker[name] for name in edge.needs if name in maker} - {index} for index, edge in enumerate(edges)]
    heaviest: dict[int, float] = {}
    before: dict[int, int | None] = {}
    for index in TopologicalSorter(dict(enumerate(needs))).static_order():
        best = max(needs[index], key=lambda other: heaviest[other], default=None)
        step = _step_of(edges[index], took)
        heaviest[index] = (step.seconds if step else 0.0) + (heaviest[best] if best is not None else 0.0)
        before[index] = best
    chain: list[Step] = []
    current = max(heaviest, key=lambda index: heaviest[index], default=None)
    while current is not None:
        step = _step_of(edges[current], took)
        if step is not None:
            chain.append(step)
        current = before[current]
    return chain[::-1]


def _step_of(edge: Edge, took: Mapping[str, Step]) -> Step | None:
    return next((took[output] for output in edge.outputs if output in took), None)
