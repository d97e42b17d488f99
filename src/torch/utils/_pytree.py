"""Nested containers as a list of leaves and a spec of their nesting.

Lists, tuples, dicts, named tuples, `OrderedDict`, `defaultdict`, `deque` and torch's named results are nodes, as are
classes given to `register_pytree_node`; all else, None included, is a leaf. Dicts keep the order of their keys.

>>> leaves, spec = tree_flatten({"a": [1, 2], "b": 3})
>>> leaves, tree_unflatten([x * 10 for x in leaves], spec)
([1, 2, 3], {'a': [10, 20], 'b': 30})
"""

from __future__ import annotations

import functools
import types
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, TypeVar

from torch.utils._pytree_nodes import (
    BUILTIN_TYPES as BUILTIN_TYPES,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    Context,
    DumpableContext,
    FlattenFn,
    FlattenFunc as FlattenFunc,
    FlattenWithKeysFn as FlattenWithKeysFn,
    FromDumpableContextFn,
    GetAttrKey as GetAttrKey,
    IsLeaf,
    KeyEntry as KeyEntry,
    KeyPath,
    MappingKey as MappingKey,
    NodeDef as NodeDef,
    PyTree,
    SequenceKey as SequenceKey,
    ToDumpableContextFn,
    UnflattenFn,
    UnflattenFunc as UnflattenFunc,
    _deregister_pytree_node as _deregister_pytree_node,
    _dict_flatten as _dict_flatten,
    _dict_flatten_with_keys as _dict_flatten_with_keys,
    _dict_unflatten as _dict_unflatten,
    _get_node_type,
    _is_namedtuple_instance as _is_namedtuple_instance,
    _list_flatten as _list_flatten,
    _list_flatten_with_keys as _list_flatten_with_keys,
    _list_unflatten as _list_unflatten,
    _namedtuple_flatten as _namedtuple_flatten,
    _namedtuple_unflatten as _namedtuple_unflatten,
    _private_register_pytree_node as _private_register_pytree_node,
    _register_namedtuple as _register_namedtuple,
    _register_pytree_node as _register_pytree_node,
    _SerializeNodeDef as _SerializeNodeDef,
    _tuple_flatten as _tuple_flatten,
    _tuple_flatten_with_keys as _tuple_flatten_with_keys,
    _tuple_unflatten as _tuple_unflatten,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    register_constant as register_constant,
    register_dataclass as register_dataclass,
    register_pytree_node,
    tree_is_leaf,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Context",
    "DumpableContext",
    "FlattenFn",
    "FromDumpableContextFn",
    "LeafSpec",
    "PyTree",
    "PyTreeSpec",
    "ToDumpableContextFn",
    "TreeSpec",
    "UnflattenFn",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

# ---------------------------------------------------------------------- specs


class _TreeSpecMeta(type):
    """`isinstance(spec, LeafSpec)` asks whether it is a leaf's."""

    def __instancecheck__(cls, instance: object) -> bool:
        if not super().__instancecheck__(instance):
            return cls is LeafSpec and isinstance(instance, TreeSpec) and instance.is_leaf()
        return True


class TreeSpec(metaclass=_TreeSpecMeta):
    """How a tree is nested: the node's type (None: a leaf), its context, and its children's specs."""

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context = None, children_specs: Iterable[TreeSpec] = ()) -> None:
        self.type = type
        self.context = context
        self._children = list(children_specs)
        self.num_children = len(self._children)
        self.num_nodes = 1 + sum(child.num_nodes for child in self._children)
        self.num_leaves = 1 if type is None else sum(child.num_leaves for child in self._children)

    def is_leaf(self) -> bool:
        """Whether it is a single leaf's."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The specs of what the node holds."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """One of them."""
        return self._children[index]

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The same as `children()`."""
        return self._children

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type == other.type
            and (self.context is other.context or bool(self.context == other.context))
            and self._children == other._children
        )

    def __hash__(self) -> int:
        # A dict's keys are a list; what cannot be hashed is left to ==.
        context = self.context
        if self.type in STANDARD_DICT_TYPES:
            context = tuple(context[1] if self.type is defaultdict else context)
        try:
            return hash((self.type, context, tuple(self._children)))
        except TypeError:
            return hash((self.type, tuple(self._children)))

    def __reduce__(self) -> Any:
        return TreeSpec, (self.type, self.context, self._children)

    def __repr__(self, indent: int = 0) -> str:
        if self.is_leaf():
            return "*"
        children = [child.__repr__(indent + 2) for child in self._children]
        text = f",\n{' ' * (indent + 2)}".join(children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{text}])"

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of `tree` where this spec has its leaves; ValueError unless it is nested so at least."""
        found: list[PyTree] = []
        self._collect(tree, found)
        return found

    def _collect(self, tree: PyTree, found: list[PyTree]) -> None:
        if self.is_leaf():
            found.append(tree)
            return
        kind = _get_node_type(tree)
        both_dicts = kind in STANDARD_DICT_TYPES and self.type in STANDARD_DICT_TYPES
        if kind != self.type and not both_dicts:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        if both_dicts:
            keys = self.context[1] if self.type is defaultdict else self.context
            if len(tree) != len(keys):
                raise ValueError(f"Node arity mismatch; expected {len(keys)}, but got {len(tree)}.")
            if set(tree) != set(keys):
                texts = [
                    f"{what} key(s): {difference}"
                    for what, difference in (("missing", set(keys) - set(tree)), ("extra", set(tree) - set(keys)))
                    if difference
                ]
                raise ValueError(f"Node keys mismatch; {'; '.join(texts)}.")
            children = [tree[key] for key in keys]
        else:
            children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
            if len(children) != self.num_children:
                raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
            if kind is not deque and context != self.context:
                raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        for spec, child in zip(self._children, children, strict=True):
            spec._collect(child, found)

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """A tree of this nesting; ValueError unless there are `num_leaves` leaves."""
        if not isinstance(leaves, (list, tuple)):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.is_leaf():
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn([child._build(leaves) for child in self._children], self.context)


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The spec of a single leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None)


_LEAF_SPEC = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The spec of a single leaf."""
    return _LEAF_SPEC


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple of such parts."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dict of such parts."""
    parts = dict(mapping, **kwargs)
    return TreeSpec(dict, list(parts), list(parts.values()))


# ---------------------------------------------------------------------- taking apart, putting together


def _flatten_into(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    if is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return _LEAF_SPEC
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None:
        leaves.append(tree)
        return _LEAF_SPEC
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten_into(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and the spec."""
    leaves: list[Any] = []
    spec = _flatten_into(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The opposite of `tree_flatten`."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one after another."""
    node = None if is_leaf is not None and is_leaf(tree) else SUPPORTED_NODES.get(_get_node_type(tree))
    if node is None:
        yield tree
        return
    for child in node.flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves from left to right."""
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """The tree of `func(leaf, *rest)`; further trees are nested as the first is, at least."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(list(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests))))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls `func` on all leaves for what it does to them; returns the tree."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)), maxlen=0)
    return tree


Leaf = TypeVar("Leaf")


def _predicate(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
        return lambda leaf: isinstance(leaf, type_or_types_or_pred)
    if callable(type_or_types_or_pred):
        predicate: Callable[[Any], bool] = type_or_types_or_pred
        return predicate
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Decorates a function of leaves: those of other types stay as they are."""
    predicate = _predicate(type_or_types_or_pred)

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def wrapped(leaf: Any) -> Any:
            return func(leaf) if predicate(leaf) else leaf

        return wrapped

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` over the leaves of some types, or for which a predicate is true; others stay as they are."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map_` over such leaves."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is true of every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is true of some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is true of every leaf of some types."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is true of some leaf of some types."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """A leaf for each of the spec's; a leaf of `tree` stands for all below it. None where they do not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) != treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        result += part
    return result


# ---------------------------------------------------------------------- with paths


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with their paths, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves with their paths; ValueError for a class that was registered without `flatten_with_keys_fn`."""
    return list(_walk((), tree, is_leaf))


def _walk(path: KeyPath, tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[_get_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. Please register one.")
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _walk((*path, key), child, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` of `func(path, leaf, *rest)`."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    return spec.unflatten(list(map(func, *columns, *(spec.flatten_up_to(rest) for rest in rests))))


# ---------------------------------------------------------------------- as text

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A spec as JSON text, PyTorch's protocol 1; NotImplementedError for classes without a registered name."""
    import json

    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    if protocol not in (None, DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL):
        raise ValueError(
            f"Unknown protocol {protocol}. Available protocols: [{DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL}]"
        )

    def dump(spec: TreeSpec) -> dict[str, Any]:
        if spec.is_leaf():
            return {"type": None, "context": None, "children_spec": []}
        entry = SUPPORTED_SERIALIZED_TYPES[spec.type]
        if entry.name is None:
            raise NotImplementedError(
                f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node "
                "call with a `serialized_type_name` kwarg."
            )
        context = entry.to_dumpable(spec.context) if entry.to_dumpable else json.dumps(spec.context)
        return {"type": entry.name, "context": context, "children_spec": [dump(child) for child in spec.children_specs]}

    return json.dumps((DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL, dump(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """The opposite of `treespec_dumps`."""
    import json

    protocol, content = json.loads(serialized)
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(
            f"Unknown protocol {protocol}. Available protocols: [{DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL}]"
        )

    def load(part: dict[str, Any]) -> TreeSpec:
        if part["type"] is None:
            return _LEAF_SPEC
        kind = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(part["type"])
        if kind is None:
            raise NotImplementedError(f"Deserializing `{part['type']}` in pytree is not registered.")
        entry = SUPPORTED_SERIALIZED_TYPES[kind]
        context = entry.from_dumpable(part["context"]) if entry.from_dumpable else json.loads(part["context"])
        return TreeSpec(kind, context, [load(child) for child in part["children_spec"]])

    return load(content)


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree with a star at every leaf, as text."""
    from pprint import pformat

    class Star:
        def __repr__(self) -> str:
            return "*"

    return pformat(treespec.unflatten([Star() for _ in range(treespec.num_leaves)]))
