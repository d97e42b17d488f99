"""A layered drawing of modules or jobs: each above what it leads to, long links bent around the boxes between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout

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


class _NumberedEdge(Edge):  # type: ignore[misc]  # grandalf has no types
    """An edge whose `data` is its number, and its hash: grandalf goes through sets of them, in an order that lasts."""

    def __hash__(self) -> int:
        return int(self.data)


@dataclass
class _View:
    """What grandalf asks of a node: its size, and a place for the centre that it finds."""

    w: float
    h: float
    xy: tuple[float, float] = (0.0, 0.0)


def draw(widths: Mapping[str, float], links: Mapping[str, Sequence[str]]) -> Drawing:
    """Lay out nodes of the given widths, parts that no link joins side by side.

    Links to what is no node are left out, and so are those that others imply.
    """
    known = {name: [to for to in dict.fromkeys(links.get(name, ())) if to in widths and to != name] for name in widths}
    vertices = {name: Vertex(name) for name in widths}
    for name, vertex in vertices.items():
        vertex.view = _View(widths[name], NODE_HEIGHT)
    shown = [(name, to) for name, targets in reduce_links(known).items() for to in targets]
    edges = [_NumberedEdge(vertices[a], vertices[b], data=number) for number, (a, b) in enumerate(shown)]
    right, bottom = MARGIN, 0.0
    nodes: dict[str, Box] = {}
    bends: dict[Edge, Mapping[int, Vertex]] = {}
    for part in Graph(list(vertices.values()), edges).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = NODE_GAP, LAYER_GAP
        layout.dw, layout.dh = BEND_WIDTH, NODE_HEIGHT
        layout.init_all()
        layout.draw(SWEEPS)
        views: list[_View] = [one.view for layer in layout.layers for one in layer]
        shift = right - min(view.xy[0] - view.w / 2 for view in views)
        for view in views:
            x, y = view.xy
            view.xy = x + shift, y - view.h / 2 + MARGIN  # from its centre to the middle of its upper edge
        right = max(view.xy[0] + view.w / 2 for view in views) + NODE_GAP
        bottom = max(bottom, *(view.xy[1] + view.h for view in views))
        for vertex in part.sV:
            (x, y), width = vertex.view.xy, vertex.view.w
            nodes[vertex.data] = Box(x - width / 2, y, width, NODE_HEIGHT)
        bends |= layout.ctrls
    drawn = tuple(_link(edge, bends.get(edge, {})) for edge in edges)
    return Drawing(max(right - NODE_GAP, 0.0) + MARGIN, bottom + MARGIN, nodes, drawn)


def _link(edge: Edge, bends: Mapping[int, Vertex]) -> Link:
    """The line of an edge; `bends` has its nodes by layer, with those that stand for it in the layers between."""
    source, target = edge.v
    ends = sorted((source.view.xy, target.view.xy), key=lambda place: place[1])
    way = [bends[layer].view.xy for layer in sorted(bends)] or ends
    through = [point for x, y in way for point in ((x, y), (x, y + NODE_HEIGHT))]
    return Link(source.data, target.data, tuple(through[1:-1]))
