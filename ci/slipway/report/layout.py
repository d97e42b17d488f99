"""Where things go on a page, as numbers: tiles of a treemap, lanes of a timeline, layers of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Box:
    """A rectangle; the unit is the caller's."""

    x: float
    y: float
    width: float
    height: float


def squarify(sizes: Sequence[float], box: Box) -> list[Box]:
    """Tiles with areas as `sizes` (positive, largest first) that fill `box` and are as square as can be.

    The method is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000): rows along the shorter side, each
    taking tiles as long as that makes its worst tile less oblong.
    """
    total = sum(sizes)
    if not sizes or total <= 0:
        return []
    scale = box.width * box.height / total
    areas = [size * scale for size in sizes]
    tiles: list[Box] = []
    rest = box
    while areas:
        side = min(rest.width, rest.height)
        count = 1
        while count < len(areas) and _worst(areas[: count + 1], side) <= _worst(areas[:count], side):
            count += 1
        row, areas = areas[:count], areas[count:]
        thickness = sum(row) / side if side > 0 else 0.0
        offset = 0.0
        for area in row:
            length = area / thickness if thickness > 0 else 0.0
            if rest.width >= rest.height:
                tiles.append(Box(rest.x, rest.y + offset, thickness, length))
            else:
                tiles.append(Box(rest.x + offset, rest.y, length, thickness))
            offset += length
        if rest.width >= rest.height:
            rest = Box(rest.x + thickness, rest.y, max(rest.width - thickness, 0.0), rest.height)
        else:
            rest = Box(rest.x, rest.y + thickness, rest.width, max(rest.height - thickness, 0.0))
    return tiles


def _worst(row: Sequence[float], side: float) -> float:
    """The aspect ratio of the most oblong tile of a row."""
    total = sum(row)
    if total <= 0 or side <= 0:
        return float("inf")
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def lanes(spans: Sequence[tuple[float, float]], slack: float = 0.0005) -> list[int]:
    """For each span (start, end) the lane it is drawn in, so that spans of a lane do not overlap."""
    free: list[float] = []
    chosen = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda index: spans[index]):
        start, end = spans[index]
        lane = next((lane for lane, until in enumerate(free) if until <= start + slack), len(free))
        if lane == len(free):
            free.append(end)
        free[lane] = end
        chosen[index] = lane
    return chosen


def ticks(length: float, most: int = 8) -> list[float]:
    """Round positions from 0 to `length` for the marks of an axis, at most `most` and one more."""
    if length <= 0:
        return [0.0]
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200)
    step = next((step for step in steps if length / step <= most), 86400.0)
    return [step * index for index in range(int(length / step) + 1)]


def reduce_links(links: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """`links` without those that others imply: a -> c goes where there are a -> b and b -> c. Loops stay whole."""
    reached: dict[str, set[str]] = {}

    def reach(name: str, path: frozenset[str]) -> set[str]:
        if name not in reached:
            found: set[str] = set()
            for other in links.get(name, ()):
                if other not in path:
                    found |= {other} | reach(other, path | {other})
            reached[name] = found
        return reached[name]

    return {
        name: [
            target
            for target in targets
            if not any(target in reach(other, frozenset((name, other))) for other in targets if other != target)
        ]
        for name, targets in links.items()
    }
