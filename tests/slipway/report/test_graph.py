"""What is drawn goes down, and nothing overlaps."""

from __future__ import annotations

import itertools

from slipway.report.graph import NODE_GAP, NODE_HEIGHT, Drawing, draw


def assert_nothing_overlaps(drawing: Drawing) -> None:
    for one, other in itertools.combinations(drawing.nodes.values(), 2):
        if one.y == other.y:
            left, right = sorted((one, other), key=lambda box: box.x)
            assert left.x + left.width + NODE_GAP <= right.x + 1e-6
        else:
            assert abs(one.y - other.y) > NODE_HEIGHT
    assert all(box.x >= 0 and box.x + box.width <= drawing.width for box in drawing.nodes.values())
    assert all(box.y >= 0 and box.y + box.height <= drawing.height for box in drawing.nodes.values())


def test_a_drawing_goes_down_and_nothing_overlaps() -> None:
    links = {"python": ["torch", "shm"], "torch": ["cpu"], "cpu": ["c10", "mkl"], "shm": ["c10"], "cuda": ["c10"]}
    names = ["c10", "cpu", "cuda", "mkl", "python", "shm", "torch"]
    drawing = draw({name: 60.0 + 10 * len(name) for name in names}, links)
    assert set(drawing.nodes) == set(names)
    for link in drawing.links:
        assert drawing.nodes[link.source].y < drawing.nodes[link.target].y
        assert link.path.startswith("M")
        source, target = drawing.nodes[link.source], drawing.nodes[link.target]
        assert link.points[0] == (source.x + source.width / 2, source.y + source.height)
        assert link.points[-1] == (target.x + target.width / 2, target.y)
        assert all(above[1] < below[1] for above, below in itertools.pairwise(link.points))
    assert {(link.source, link.target) for link in drawing.links} == {(a, b) for a in links for b in links[a]}
    assert_nothing_overlaps(drawing)


def test_a_drawing_comes_out_the_same_each_time() -> None:
    names = [f"m{number}" for number in range(40)]
    links = {name: names[number + 1 :: 2 + number % 5] for number, name in enumerate(names)}
    others, drawings = [], []
    for number in range(5):
        others.append([object() for _ in range(997 * number)])  # what follows lies elsewhere in memory
        drawings.append(draw(dict.fromkeys(names, 90.0), links))
    assert all(drawing == drawings[0] for drawing in drawings)


def test_long_links_bend_around_the_boxes_between() -> None:
    drawing = draw({"a": 100, "b": 100, "c": 100, "d": 100, "e": 100}, {"a": ["b"], "b": ["c"], "c": ["d"], "e": ["d"]})
    (link,) = (link for link in drawing.links if link.source == "e")
    between = [box for name, box in drawing.nodes.items() if name in ("b", "c")]
    for x, y in link.points[1:-1]:
        assert not any(box.x < x < box.x + box.width and box.y <= y <= box.y + box.height for box in between)


def test_parts_that_nothing_joins_stand_side_by_side() -> None:
    drawing = draw({"a": 50, "b": 90, "c": 70, "d": 50}, {"a": ["b"], "c": ["d"]})
    assert_nothing_overlaps(drawing)
    assert drawing.nodes["a"].y == drawing.nodes["c"].y


def test_loops_and_unknown_names_do_no_harm() -> None:
    drawing = draw({"a": 50, "b": 50}, {"a": ["b", "a", "unknown"], "b": ["a"]})
    assert {(link.source, link.target) for link in drawing.links} == {("a", "b"), ("b", "a")}
    assert_nothing_overlaps(drawing)
    long = draw(dict.fromkeys("abcd", 50), {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["b"]})
    assert_nothing_overlaps(long)
    assert len(long.links) == 4


def test_an_empty_drawing() -> None:
    assert draw({}, {}).nodes == {}
