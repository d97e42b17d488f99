"""Tiles fill the map, lanes do not overlap, layers go down."""

from __future__ import annotations

import itertools
import random

import pytest

from slipway.report.layout import Box, lanes, reduce_links, squarify, ticks


def test_tiles_have_their_share_and_fill_the_box() -> None:
    sizes = sorted((random.Random(7).expovariate(1) + 0.01 for _ in range(60)), reverse=True)
    box = Box(10, 20, 800, 300)
    tiles = squarify(sizes, box)
    for size, tile in zip(sizes, tiles, strict=True):
        assert tile.width * tile.height == pytest.approx(size / sum(sizes) * 800 * 300)
        assert tile.x >= 10 - 1e-6
        assert tile.x + tile.width <= 810 + 1e-6
        assert tile.y >= 20 - 1e-6
        assert tile.y + tile.height <= 320 + 1e-6
    for one, other in itertools.combinations(tiles, 2):
        wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert wide < 1e-6 or high < 1e-6, "two tiles overlap"
    oblong = [max(tile.width / tile.height, tile.height / tile.width) for tile in tiles]
    assert sorted(oblong)[len(oblong) // 2] < 2, "most tiles are nearly square"


def test_no_tiles_for_nothing() -> None:
    assert squarify([], Box(0, 0, 1, 1)) == []


def test_lanes() -> None:
    spans = [(0.0, 1.0), (0.0, 2.0), (2.5, 4.0), (1.0, 3.0), (2.0, 2.2)]
    assert lanes(spans) == [0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("length", "expected"), [(0.0, [0.0]), (1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (160.0, [0, 30, 60, 90, 120, 150])]
)
def test_ticks(length: float, expected: list[float]) -> None:
    assert ticks(length) == pytest.approx(expected)


def test_implied_links_are_left_out() -> None:
    links = {"python": ["torch", "cpu", "c10"], "torch": ["cpu", "c10"], "cpu": ["c10"], "c10": []}
    assert reduce_links(links) == {"python": ["torch"], "torch": ["cpu"], "cpu": ["c10"], "c10": []}
