"""A layered drawing of modules: who links is above what is linked, long links bend around the boxes between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from slipway.report.layout import Box, reduce_links

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NODE_HEIGHT = 46.0
LAYER_GAP = 54.0
NODE_GAP = 22.0
BEND_WIDTH = 10.0
MARGIN = 12.0
SWEEPS = 12
"""How often layers are sorted by their neighbours; more changes little."""


@dataclass(frozen=True)
class Link:
    """A line from one node to another, as points from top to bottom."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The line as an SVG path of smooth curves."""
        (x, y), *rest = self.points
        words = [f"M{x:.1f},{y:.1f}"]
        for to_x, to_y in rest:
            middle = (y + to_y) / 2
            words.append(f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}")
            x, y = to_x, to_y
        return " ".join(words)


@dataclass(frozen=True)
class Drawing:
    """Where every node and link goes, in pixels."""

    width: float
    height: float
    nodes: Mapping[str, Box]
    links: tuple[Link, ...]


def draw(widths: Mapping[str, float], links: Mapping[str, Sequence[str]]) -> Drawing:
    """Lay out nodes of the given widths; links to what is no node are left out, and so are those that others imply."""
    known = {name: [to for to in dict.fromkeys(links.get(name, ())) if to in widths and to != name] for name in widths}
    acyclic = _without_loops(known)
    reduced = reduce_links(acyclic)
    layer = _layers(reduced)
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in widths:
        rows[layer[name]].append(name)
    size = dict(widths)
    chains: dict[tuple[str, str], list[str]] = {}
    down: dict[str, list[str]] = {name: [] for name in widths}
    for name, targets in reduced.items():
        for target in targets:
            chain = [name]
            for row in range(layer[name] + 1, layer[target]):
                bend = f"\0{name}\0{target}\0{row}"
                size[bend] = BEND_WIDTH
                rows[row].append(bend)
                down[bend] = []
                chain.append(bend)
            chain.append(target)
            for upper, lower in pairwise(chain):
                down[upper].append(lower)
            chains[name, target] = chain
    _sort(rows, down)
    centre, width = _place(rows, down, size)
    nodes = {
        name: Box(
            centre[name] - size[name] / 2, MARGIN + layer[name] * (NODE_HEIGHT + LAYER_GAP), size[name], NODE_HEIGHT
        )
        for name in widths
    }
    height = 2 * MARGIN + len(rows) * NODE_HEIGHT + max(len(rows) - 1, 0) * LAYER_GAP
    drawn = tuple(Link(a, b, _points(chain, nodes, centre, rows)) for (a, b), chain in chains.items())
    return Drawing(width, height, nodes, drawn)


def _without_loops(links: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """`links` without those that close a loop."""
    kept: dict[str, list[str]] = {name: [] for name in links}
    done: set[str] = set()

    def visit(name: str, path: frozenset[str]) -> None:
        if name in done:
            return
        for target in links[name]:
            if target not in path:
                visit(target, path | {target})
                kept[name].append(target)
        done.add(name)

    for name in links:
        visit(name, frozenset((name,)))
    return kept


def _layers(links: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Each node's layer, the top one 0: as far down as its longest chain from above asks; sources sit near targets."""
    above: dict[str, list[str]] = {name: [] for name in links}
    for name, targets in links.items():
        for target in targets:
            above[target].append(name)
    layer: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in layer:
            layer[name] = 1 + max((depth(other) for other in above[name]), default=-1)
        return layer[name]

    for name in links:
        depth(name)
    for name in sorted(links, key=lambda name: -layer[name]):
        if not above[name] and links[name]:
            layer[name] = min(layer[target] for target in links[name]) - 1
    return layer


def _sort(rows: list[list[str]], down: Mapping[str, Sequence[str]]) -> None:
    """Order every row by the mean place of its neighbours, down and up in turn, so that few lines cross."""
    up: dict[str, list[str]] = {name: [] for name in down}
    for name, targets in down.items():
        for target in targets:
            up[target].append(name)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        order = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
        neighbours = up if downwards else down
        for index in order:
            beside = rows[index - 1] if downwards else rows[index + 1]
            place = {name: position for position, name in enumerate(beside)}
            current = {name: float(position) for position, name in enumerate(rows[index])}

            def mean(name: str, place: dict[str, int] = place, current: dict[str, float] = current) -> float:
                places = [place[other] for other in neighbours[name] if other in place]  # noqa: B023
                return sum(places) / len(places) if places else current[name]

            rows[index].sort(key=mean)


def _place(
    rows: Sequence[Sequence[str]], down: Mapping[str, Sequence[str]], size: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """The centre of each node from left to right, and the width of all: near its neighbours, in the order given."""
    near: dict[str, list[str]] = {name: [] for name in size}
    for name, targets in down.items():
        for target in targets:
            near[name].append(target)
            near[target].append(name)
    spans = [sum(size[name] for name in row) + NODE_GAP * max(len(row) - 1, 0) for row in rows]
    width = max(spans, default=0.0)
    centre: dict[str, float] = {}
    for row, span in zip(rows, spans, strict=True):
        x = (width - span) / 2
        for name in row:
            centre[name] = x + size[name] / 2
            x += size[name] + NODE_GAP
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wish = {
                name: sum(centre[other] for other in near[name]) / len(near[name]) if near[name] else centre[name]
                for name in row
            }
            centre.update(_spread(row, wish, size, width))
    return {name: x + MARGIN for name, x in centre.items()}, width + 2 * MARGIN


def _spread(row: Sequence[str], wish: Mapping[str, float], size: Mapping[str, float], width: float) -> dict[str, float]:
    """Places as near to `wish` as order, gaps and the page's sides allow: the mean of packing from left and right."""
    left: dict[str, float] = {}
    edge = 0.0
    for index, name in enumerate(row):
        rest = sum(size[other] + NODE_GAP for other in row[index + 1 :])
        x = min(max(wish[name] - size[name] / 2, edge), width - rest - size[name])
        left[name] = x
        edge = x + size[name] + NODE_GAP
    right: dict[str, float] = {}
    edge = width
    for index in range(len(row) - 1, -1, -1):
        name = row[index]
        rest = sum(size[other] + NODE_GAP for other in row[:index])
        x = max(min(wish[name] + size[name] / 2, edge), rest + size[name])
        right[name] = x - size[name]
        edge = right[name] - NODE_GAP
    return {name: (left[name] + right[name]) / 2 + size[name] / 2 for name in row}


def _points(
    chain: Sequence[str], nodes: Mapping[str, Box], centre: Mapping[str, float], rows: Sequence[Sequence[str]]
) -> tuple[tuple[float, float], ...]:
    source, target = nodes[chain[0]], nodes[chain[-1]]
    points = [(source.x + source.width / 2, source.y + source.height)]
    first = next(index for index, row in enumerate(rows) if chain[0] in row)
    for offset, bend in enumerate(chain[1:-1], start=1):
        top = MARGIN + (first + offset) * (NODE_HEIGHT + LAYER_GAP)
        points += [(centre[bend], top), (centre[bend], top + NODE_HEIGHT)]
    points.append((target.x + target.width / 2, target.y))
    return tuple(points)
