"""torch.utils._pytree: what PyTorch 2.13 gives for the same trees."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import torch
from torch.utils import _pytree as pytree

Point = namedtuple("Point", ["x", "y"])
TREES: list[tuple[Any, list[Any]]] = [
    (1, [1]),
    (None, [None]),
    ([], []),
    ([1, (2, 3), {"a": 4}], [1, 2, 3, 4]),
    ({"b": 1, "a": [2]}, [1, 2]),
    (OrderedDict(a=1, b=Point(2, [3])), [1, 2, 3]),
    (defaultdict(int, {"z": 1}), [1]),
    (deque([1, 2], maxlen=3), [1, 2]),
    (torch.Size([2, 3]), [2, 3]),
]


@pytest.mark.parametrize("position", range(len(TREES)))
def test_there_and_back(position: int) -> None:
    tree, expected = TREES[position]
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == expected == pytree.tree_leaves(tree) == list(pytree.tree_iter(tree))
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree
    assert type(again) is (tuple if isinstance(tree, torch.Size) else type(tree))
    assert spec.num_leaves == len(expected)
    assert pytree.tree_structure(tree) == spec
    assert hash(pytree.tree_structure(tree)) == hash(spec)
    assert [leaf for _, leaf in pytree.tree_leaves_with_path(tree)] == expected
    assert [pytree.key_get(tree, path) for path, _ in pytree.tree_leaves_with_path(tree)] == expected


def test_named_results() -> None:
    result = torch.tensor([3.0, 1.0]).max(0)
    leaves, spec = pytree.tree_flatten(result)
    assert [leaf.item() for leaf in leaves] == [3.0, 0]
    assert type(spec.unflatten(leaves)) is torch.return_types.max


def test_spec_as_text() -> None:
    tree = {"a": [1, (2, 3)], "b": None}
    spec = pytree.tree_structure(tree)
    assert repr(spec) == (
        "TreeSpec(dict, ['a', 'b'], [TreeSpec(list, None, [*,\n    TreeSpec(tuple, None, [*,\n      *])]),\n  *])"
    )
    text = pytree.treespec_dumps(spec)
    assert text == (
        '[1, {"type": "builtins.dict", "context": "[\\"a\\", \\"b\\"]", "children_spec": [{"type": "builtins.list", '
        '"context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": '
        '"builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, '
        '{"type": null, "context": null, "children_spec": []}]}]}, {"type": null, "context": null, "children_spec": '
        "[]}]}]"
    )
    assert pytree.treespec_loads(text) == spec
    assert pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure(TREES[6][0]))).context == [int, ["z"]]
    assert pytree.treespec_pprint(spec) == "{'a': [*, (*, *)], 'b': *}"
    assert isinstance(pytree.tree_structure(1), pytree.LeafSpec)
    assert not isinstance(spec, pytree.LeafSpec)


def test_maps() -> None:
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert pytree.tree_map(lambda a, b: (a, b), [1, 2], [[3], {"k": 4}]) == [(1, [3]), (2, {"k": 4})]
    assert pytree.tree_map(len, [[1, 2], [3]], is_leaf=lambda item: item and isinstance(item[0], int)) == [2, 1]
    assert pytree.tree_map_only(int, lambda x: -x, [1, "a"]) == [-1, "a"]
    assert pytree.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.0]) == [2, "aa", 2.0]
    assert pytree.tree_map_only(lambda x: x == 1, lambda x: 9, (1, 2)) == (9, 2)
    seen: list[int] = []
    tree = [1, {"a": 2}]
    assert pytree.tree_map_(seen.append, tree) is tree
    assert seen == [1, 2]
    assert pytree.tree_all(bool, [1, [2]])
    assert not pytree.tree_all(bool, [1, [0]])
    assert pytree.tree_any(bool, [0, [2]])
    assert pytree.tree_all_only(int, bool, [1, "", 2])
    assert pytree.tree_any_only(int, bool, [0, "text", 2])
    assert pytree.tree_map_with_path(lambda path, x: pytree.keystr(path) + str(x), {"a": [1, Point(2, 3)]}) == {
        "a": ["['a'][0]1", Point("['a'][1].x2", "['a'][1].y3")]
    }
    assert pytree._broadcast_to_and_flatten([1, 2], pytree.tree_structure([{"a": 0, "b": 0}, 0])) == [1, 1, 2]
    assert pytree._broadcast_to_and_flatten([1], pytree.tree_structure((0,))) is None


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (([1, 2], [1]), "Node arity mismatch; expected 2, but got 1."),
        (([1], (1,)), "Node type mismatch; expected <class 'list'>, but got <class 'tuple'>."),
        (({"a": 1}, {"b": 1}), r"Node keys mismatch; missing key\(s\): {'a'}; extra key\(s\): {'b'}."),
    ],
)
def test_trees_that_differ(trees: tuple[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pytree.tree_map(lambda a, b: a, *trees)


def test_wrong_number_of_leaves() -> None:
    with pytest.raises(ValueError, match="`leaves` has length 1 but the spec refers to a pytree that holds 2 items"):
        pytree.tree_unflatten([1], pytree.tree_structure([1, 2]))


def test_classes_can_be_registered() -> None:
    class Pair:
        def __init__(self, one: Any, two: Any) -> None:
            self.one, self.two = one, two

    @dataclass
    class Record:
        a: Any
        b: Any = None

    assert pytree.tree_leaves([Pair(1, 2)])[0].one == 1
    pytree.register_pytree_node(
        Pair, lambda pair: ([pair.one, pair.two], None), lambda values, _: Pair(*values), serialized_type_name="Pair"
    )
    pytree.register_dataclass(Record)
    try:
        assert pytree.tree_leaves([Pair(1, [2]), 3]) == [1, 2, 3]
        assert pytree.tree_map(lambda x: x + 1, Pair(1, 2)).two == 3
        spec = pytree.tree_structure(Pair(1, 2))
        assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
        assert pytree.tree_map(lambda x: x * 2, Record([1], None)) == Record([2], None)
        with pytest.raises(ValueError, match="is already registered as pytree node"):
            pytree.register_pytree_node(Pair, lambda pair: ([], None), lambda values, _: None)
        with pytest.raises(ValueError, match="flatten_with_keys_fn"):
            pytree.tree_leaves_with_path(Pair(1, 2))
    finally:
        pytree._deregister_pytree_node(Pair)
        pytree._deregister_pytree_node(Record)
