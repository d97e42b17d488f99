"""Which classes `torch.utils._pytree` takes apart, how, and where in them a leaf lies."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, TypeAlias

import torch

PyTree: TypeAlias = Any
Context: TypeAlias = Any
DumpableContext: TypeAlias = Any
FlattenFn: TypeAlias = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn: TypeAlias = Callable[[Iterable[Any], Context], PyTree]
ToDumpableContextFn: TypeAlias = Callable[[Context], DumpableContext]
FromDumpableContextFn: TypeAlias = Callable[[DumpableContext], Context]
FlattenFunc, UnflattenFunc = FlattenFn, UnflattenFn
IsLeaf: TypeAlias = Callable[[PyTree], bool] | None


# ---------------------------------------------------------------------- where a leaf lies


class KeyEntry(Protocol):
    """One step from a container to what is in it."""

    def get(self, parent: Any) -> Any:
        """What lies there in `parent`."""


@dataclass(frozen=True)
class SequenceKey:
    """A place in a list or tuple."""

    __module__ = "torch.utils._pytree"  # where PyTorch has it

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, parent: Any) -> Any:
        """`parent[idx]`."""
        return parent[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """A key of a dict."""

    __module__ = "torch.utils._pytree"  # where PyTorch has it

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, parent: Any) -> Any:
        """`parent[key]`."""
        return parent[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """A field of a named tuple or of a data class."""

    __module__ = "torch.utils._pytree"  # where PyTorch has it

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, parent: Any) -> Any:
        """`parent.name`."""
        return getattr(parent, self.name)


KeyPath: TypeAlias = tuple[Any, ...]
FlattenWithKeysFn: TypeAlias = Callable[[PyTree], tuple[list[tuple[Any, Any]], Any]]


def keystr(kp: KeyPath) -> str:
    """The path as Python writes it: "['a'][1].x"."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---------------------------------------------------------------------- kinds of nodes


class NodeDef(NamedTuple):
    """How a class is taken apart and put together."""

    type: type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class _SerializeNodeDef(NamedTuple):
    type: type[Any]
    name: str | None
    to_dumpable: ToDumpableContextFn | None
    from_dumpable: FromDumpableContextFn | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Makes instances of exactly `cls` nodes.

    `flatten_fn(instance)` gives children and a context, `unflatten_fn(children, context)` an instance. For
    `treespec_dumps` the class needs a name, and its context a form that JSON knows. ValueError for a class that is
    registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(
        cls, serialized_type_name, to_dumpable_context, from_dumpable_context
    )
    if serialized_type_name is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def _register_pytree_node(
    cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, *args: Any, **kwargs: Any
) -> None:
    """The old name of `register_pytree_node`; further positional arguments have had no effect for long."""
    register_pytree_node(cls, flatten_fn, unflatten_fn, **kwargs)


_private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: type[Any]) -> None:
    del SUPPORTED_NODES[cls]
    entry = SUPPORTED_SERIALIZED_TYPES.pop(cls)
    if entry.name is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(entry.name, None)


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Makes a data class a node whose children are its fields, apart from those to drop and those that are None."""
    names = [field.name for field in fields(cls) if field.init] if field_names is None else list(field_names)
    names = [name for name in names if name not in (drop_field_names or [])]

    def present(instance: Any) -> list[str]:
        return [name for name in names if getattr(instance, name) is not None]

    def flatten(instance: Any) -> tuple[list[Any], Context]:
        kept = present(instance)
        return [getattr(instance, name) for name in kept], [kept, [name for name in names if name not in kept]]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        return cls(**dict(zip(context[0], values, strict=True)), **dict.fromkeys(context[1]))

    def flatten_with_keys(instance: Any) -> tuple[list[tuple[Any, Any]], Context]:
        values, context = flatten(instance)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values, strict=True)], context

    register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=flatten_with_keys
    )


def register_constant(cls: type[Any]) -> None:
    """Makes instances nodes without children: they are part of the spec, and must be comparable."""
    register_pytree_node(cls, lambda instance: ([], instance), lambda _, context: context)


def is_namedtuple_class(cls: type) -> bool:
    """Whether it is a class that `collections.namedtuple` made, or a subclass of one."""
    names = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(names, tuple)
        and all(isinstance(name, str) for name in names)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether it is an instance of such a class."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Whether it is such a class, or an instance of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def is_structseq_class(cls: type) -> bool:
    """Whether it is a named tuple of C, such as torch.return_types.max."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in ("n_sequence_fields", "n_fields"))
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether it is an instance of such a class."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Whether it is such a class, or an instance of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _with_places(values: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(SequenceKey(place), value) for place, value in enumerate(values)]


def _dict_flatten(tree: Mapping[Any, Any]) -> tuple[list[Any], Context]:
    return list(tree.values()), list(tree.keys())


def _dict_flatten_with_keys(tree: Mapping[Any, Any]) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(key), value) for key, value in tree.items()], list(tree.keys())


def _dict_unflatten(values: Iterable[Any], keys: Context) -> dict[Any, Any]:
    return dict(zip(keys, values, strict=True))


def _list_flatten(tree: Any) -> tuple[list[Any], Context]:
    return list(tree), None


def _list_flatten_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return _with_places(tree), None


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    return list(values)


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    return tuple(values)


# Libraries take these for classes of their own.
_tuple_flatten, _tuple_flatten_with_keys = _list_flatten, _list_flatten_with_keys


def _namedtuple_flatten(tree: Any) -> tuple[list[Any], Context]:
    return list(tree), type(tree)


def _namedtuple_unflatten(values: Iterable[Any], kind: Context) -> Any:
    return kind(*values)


def _register_builtin_nodes() -> None:
    register = register_pytree_node
    register(
        tuple,
        _tuple_flatten,
        _tuple_unflatten,
        serialized_type_name="builtins.tuple",
        flatten_with_keys_fn=_tuple_flatten_with_keys,
    )
    register(
        list,
        _list_flatten,
        _list_unflatten,
        serialized_type_name="builtins.list",
        flatten_with_keys_fn=_list_flatten_with_keys,
    )
    register(
        dict,
        _dict_flatten,
        _dict_unflatten,
        serialized_type_name="builtins.dict",
        flatten_with_keys_fn=_dict_flatten_with_keys,
    )
    register(
        namedtuple,  # type: ignore[arg-type] # stands for all of them
        _namedtuple_flatten,
        _namedtuple_unflatten,
        serialized_type_name="collections.namedtuple",
        to_dumpable_context=_dump_namedtuple,
        from_dumpable_context=lambda name: SERIALIZED_TYPE_TO_PYTHON_TYPE[name],
        flatten_with_keys_fn=lambda tree: (
            [(GetAttrKey(name), value) for name, value in zip(tree._fields, tree, strict=True)],
            type(tree),
        ),
    )
    register(
        OrderedDict,
        _dict_flatten,
        lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
        serialized_type_name="collections.OrderedDict",
        flatten_with_keys_fn=_dict_flatten_with_keys,
    )
    register(
        defaultdict,
        lambda tree: (list(tree.values()), [tree.default_factory, list(tree.keys())]),
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
        serialized_type_name="collections.defaultdict",
        to_dumpable_context=lambda context: {
            "default_factory_module": context[0].__module__,
            "default_factory_name": context[0].__qualname__,
            "dict_context": context[1],
        },
        from_dumpable_context=_load_defaultdict,
        flatten_with_keys_fn=lambda tree: (
            _dict_flatten_with_keys(tree)[0],
            [tree.default_factory, list(tree.keys())],
        ),
    )
    register(
        deque,
        lambda tree: (list(tree), tree.maxlen),
        lambda values, length: deque(values, maxlen=length),
        serialized_type_name="collections.deque",
        flatten_with_keys_fn=lambda tree: (_with_places(tree), tree.maxlen),
    )
    for name, kind in torch._C._return_types.items():
        register(
            kind,
            lambda tree: (list(tree), None),
            lambda values, _, kind=kind: kind(list(values)),  # type: ignore[misc]
            serialized_type_name=f"torch.return_types.{name}",
            flatten_with_keys_fn=lambda tree: (_with_places(tree), None),
        )
    register(
        torch.Size,
        lambda tree: (list(tree), None),
        lambda values, _: tuple(values),  # as in PyTorch: the leaves need be no numbers
        serialized_type_name="torch.Size",
        flatten_with_keys_fn=lambda tree: (_with_places(tree), None),
    )


def _dump_namedtuple(kind: type[Any]) -> DumpableContext:
    entry = SUPPORTED_SERIALIZED_TYPES.get(kind)
    if entry is None or entry.name is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {kind} because we didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return entry.name


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Names a namedtuple class, so that specs with it can be dumped."""
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, serialized_type_name, None, None)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def _load_defaultdict(context: DumpableContext) -> Context:
    import importlib

    factory: Any = importlib.import_module(context["default_factory_module"])
    for part in context["default_factory_name"].split("."):
        factory = getattr(factory, part)
    return [factory, context["dict_context"]]


_register_builtin_nodes()
BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})


def _get_node_type(tree: Any) -> Any:
    kind = type(tree)
    return namedtuple if kind not in SUPPORTED_NODES and is_namedtuple_class(kind) else kind


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether it is no node, or `is_leaf` says so."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf
