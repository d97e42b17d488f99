"""Runs a model once, with its real arguments, and keeps which operators it called on what.

`Recorder` is a mode: it sees every function of torch that Python calls. What depends on the inputs becomes a `Record`;
all else is computed and ends as a constant, so weights that are derived from others are folded. Functions that are
written in Python are recorded by their parts, unless a translation has their name. There is no recording of writes: an
in-place function is its functional form, after which the tensor stands for another value; a write into a view is a
scatter into the tensor that it views, and other views of that are taken again when they are read.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, Tensor
from torch.onnx._sizes import Ratio, Size, _Tracked
from torch.onnx.errors import DataDependentError, UnsupportedOperatorError
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.onnx._sizes import Guard

_TORCH = str(Path(torch.__file__).parent)
_HERE = str(Path(__file__).parent)

# What Python may ask of a tensor that is known only when the graph runs.
_VALUES = frozenset({
    "__bool__", "__int__", "__float__", "__index__", "__complex__", "__contains__", "item", "tolist", "numpy",
    "__array__", "is_nonzero", "equal", "allclose", "_is_all_true", "data_ptr", "__dlpack__",
})  # fmt: skip
# In-place functions that change how a tensor is looked at, not its elements.
_RESHAPING = frozenset(
    ["squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "detach_", "as_strided_"]
)
_INERT = frozenset(
    ["requires_grad_", "retain_grad", "register_hook", "share_memory_", "__repr__", "__str__", "__format__", "__hash__"]
)
_RANDOM_WRITES = frozenset(["uniform_", "normal_", "random_", "exponential_", "cauchy_", "geometric_", "log_normal_"])
# Modules whose functions are Python around the ones that have rows, and those of them that have rows themselves.
_BY_PARTS = ("torch.nn.functional", "torch.functional")
_WHOLE = frozenset(["einsum", "tensordot", "cdist"])
_OPERATORS = {
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__iand__": "bitwise_and_",
    "__or__": "bitwise_or", "__ror__": "bitwise_or", "__ior__": "bitwise_or_",
    "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor", "__ixor__": "bitwise_xor_",
    "__rsub__": "rsub", "__rpow__": "rpow", "__rdiv__": "rdiv", "__rtruediv__": "rdiv",
    "__rfloordiv__": "rfloordiv", "__rmod__": "rmod", "__rmatmul__": "rmatmul", "__invert__": "bitwise_not",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__mod__": "remainder",
    "__floordiv__": "floor_divide", "__truediv__": "div", "__div__": "div", "__pow__": "pow", "__ipow__": "pow_",
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__idiv__": "div_", "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__add__": "add", "__radd__": "add",
    "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs",
    "__matmul__": "matmul", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__getitem__": "getitem", "__setitem__": "setitem", "__reversed__": "flip",
}  # fmt: skip

# Functions of views that give copies: in a graph there is no difference.
_COPIES = frozenset({
    "alias_copy", "as_strided_copy", "diagonal_copy", "expand_copy", "narrow_copy", "permute_copy", "select_copy",
    "slice_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy",
    "unfold_copy", "unsqueeze_copy", "view_copy",
})  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """A recorded value, by its number."""

    number: int


@dataclass
class Record:
    """A call: its arguments and its result with `Reference` for tensors, and where in the program it stood."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any
    location: str
    data_sized: bool = False


@dataclass(eq=False)
class _Value:
    """What a tensor object stands for. A view has the steps from `root`, which counts how often it was written."""

    tensor: Tensor
    number: int
    root: _Value = field(init=False)
    steps: tuple[Callable[[Tensor], Tensor], ...] = ()
    seen: int = 0
    writes: int = 0

    def __post_init__(self) -> None:
        self.root = self


@dataclass
class Recording:
    """All that a run gave. Values are numbered as they appear, so that two runs of one program can be compared."""

    records: list[Record] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: Any = None
    constants: dict[int, Tensor] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of constants that are parameters or buffers
    computed: dict[int, Tensor] = field(default_factory=dict)  # results that depend on sizes only
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[int, torch.dtype] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    answers: list[tuple[str, str, Any]] = field(default_factory=list)  # (location, function, value) of sizes only
    data_sized: bool = False
    foreign: bool = False  # whether it uses tensors that it did not see being made


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """`tree` with `function` of all that is not a list, tuple, dict or slice."""
    if isinstance(tree, (list, tuple)):
        values = [map_leaves(function, each) for each in tree]
        return values if isinstance(tree, list) else tuple(values)
    if isinstance(tree, dict):
        return {key: map_leaves(function, value) for key, value in tree.items()}
    if isinstance(tree, slice):
        return slice(*(map_leaves(function, each) for each in (tree.start, tree.stop, tree.step)))
    return function(tree)


def iterate_leaves(tree: Any) -> Iterator[Any]:
    """What `map_leaves` calls its function with."""
    if isinstance(tree, (list, tuple)):
        for each in tree:
            yield from iterate_leaves(each)
    elif isinstance(tree, dict):
        yield from iterate_leaves(list(tree.values()))
    elif isinstance(tree, slice):
        yield from (tree.start, tree.stop, tree.step)
    else:
        yield tree


def _plainly(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with _C.DisableTorchFunction():
        return function(*args, **kwargs)


def _storage(tensor: Tensor) -> int:
    """Which memory it has; 0 for none."""
    if tensor.layout != torch.strided:
        return 0
    return tensor.untyped_storage().data_ptr() if tensor.numel() else 0


def name_of(function: Any) -> str:
    """The name of a function of torch as translations are listed under."""
    name = str(getattr(function, "__name__", type(function).__name__))
    if name in ("__get__", "__set__"):
        name = f"{function.__self__.__name__}{'' if name == '__get__' else '.set'}"
    if getattr(function, "__module__", None) == "torch._C._linalg" or name.startswith("linalg_"):
        return f"linalg_{name.removeprefix('linalg_')}"
    name = _OPERATORS.get(name, name.removeprefix("special_"))
    return name.removesuffix("_copy") if name in _COPIES else name


def is_data_sized(row: Any, name: str, args: tuple[Any, ...]) -> bool:
    """Whether the sizes of a call's results depend on values: those of picks by a mask do."""
    if name != "getitem":
        return bool(row and row.data_sized) or (name == "where" and len(args) == 1)
    masks = args[1] if isinstance(args[1], tuple) else (args[1],)
    return any(isinstance(each, Tensor) and each.dtype in (torch.bool, torch.uint8) for each in masks)


def flatten_outputs(result: Any) -> Iterator[Any]:
    """The tensors and numbers of what a model gave, in their order; None is left out."""
    if isinstance(result, (Tensor, bool, int, float)):
        yield result
    elif isinstance(result, Mapping):
        for each in result.values():
            yield from flatten_outputs(each)
    elif isinstance(result, (list, tuple)):
        for each in result:
            yield from flatten_outputs(each)
    elif is_dataclass(result):
        for each in fields(result):
            yield from flatten_outputs(getattr(result, each.name))
    elif result is not None:
        raise UnsupportedOperatorError(f"the model gives a {type(result).__name__}: a graph gives tensors")


class Recorder(TorchFunctionMode):
    """Records one run. `translated(name)` gives the row of a name, or None; `dims` names the inputs' dynamic axes."""

    def __init__(
        self,
        translated: Callable[[str], Any],
        decompositions: dict[str, Callable[..., Any]],
        names: dict[int, str],
        fold: bool = True,
    ) -> None:
        super().__init__()
        self.recording = Recording()
        self._translated, self._decompositions, self._parameters, self._fold = translated, decompositions, names, fold
        self._values: dict[int, _Value] = {}
        self._traced: set[int] = set()  # numbers that depend on an input, on a size or on chance
        self._open: set[int] = set()  # numbers whose sizes may be others
        self._by_input: set[int] = set()  # numbers that depend on an input or on chance
        self._dims: dict[tuple[int, int], str] = {}
        self._storages: dict[int, _Value] = {}
        self._known: dict[int, Tensor] = {}  # constants that were made while recording
        self._count = 0

    # ------------------------------------------------------------------ running

    def run(
        self,
        model: Callable[..., Any],
        inputs: list[Tensor],
        dims: dict[tuple[int, int], str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Recording:
        """The recording of `model(*args, **kwargs)`, in which `inputs` stand; `dims`: (input, axis) -> name."""
        for position, tensor in enumerate(inputs):
            value = self._register(tensor)
            self.recording.inputs.append(value.number)
            self._traced.add(value.number)
            self._by_input.add(value.number)
            axes = {axis: name for (index, axis), name in dims.items() if index == position}
            if axes:
                self._open.add(value.number)
            for axis in range(tensor.dim()):
                self._dims[value.number, axis] = axes.get(axis, "")
        with self:
            result = model(*args, **kwargs)
        self.recording.outputs = [self.refer(each) for each in flatten_outputs(result)]
        return self.recording

    def refer(self, leaf: Any) -> Any:
        """A `Reference` for a tensor, anything else as it is."""
        return Reference(self._number(leaf)) if isinstance(leaf, Tensor) else leaf

    def locate(self) -> str:
        """file:line of the program's innermost frame; of torch's, where only that runs."""
        frame = sys._getframe(1)
        within = ""
        while frame is not None:
            file = frame.f_code.co_filename
            if frame.f_code is Recorder.run.__code__:
                break
            if not file.startswith(_TORCH):
                return f"{file}:{frame.f_lineno}"
            if not within and not file.startswith(_HERE) and not Path(file).name.startswith(("_", "overrides")):
                within = f"{file}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        return within or "the model itself"

    # ------------------------------------------------------------------ what tensors stand for

    def _register(self, tensor: Tensor) -> _Value:
        self._count += 1
        value = _Value(tensor, self._count)
        self._values[id(tensor)] = value
        self.recording.shapes[value.number] = _plainly(tuple, (tensor.shape,), {})
        self.recording.dtypes[value.number] = tensor.dtype
        storage = _storage(tensor)
        root = self._storages.get(storage)
        if storage and root is None:
            self._storages[storage] = value
        return value

    def _register_constant(self, tensor: Tensor) -> _Value:
        if tensor.layout != torch.strided:
            raise UnsupportedOperatorError(f"{self.locate()}: a sparse tensor has no form in the graph")
        value = self._register(tensor)
        self.recording.constants[value.number] = tensor
        if id(tensor) in self._parameters:
            self.recording.names[value.number] = self._parameters[id(tensor)]
        elif id(tensor) not in self._known:
            self.recording.foreign = True
        return value

    def _find(self, tensor: Tensor) -> _Value | None:
        """What it stands for; None if nothing that was recorded is in its memory."""
        value = self._values.get(id(tensor))
        if value is not None:
            return value
        root = self._storages.get(_storage(tensor))
        if root is None or (root.number in self.recording.constants and not root.writes):
            return None
        size, stride, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()

        def look(base: Tensor) -> Tensor:
            return base.as_strided(size, stride, offset)

        self._count += 1
        value = _Value(tensor, self._count, steps=(look,), seen=-1)
        value.root = root
        self._values[id(tensor)] = value
        return value

    def _number(self, tensor: Tensor) -> int:
        """The number of what it holds now."""
        value = self._find(tensor) or self._register_constant(tensor)
        if value.seen != value.root.writes:
            with self:
                fresh = value.root.tensor
                for step in value.steps:
                    fresh = step(fresh)
            value.number, value.seen = self._values[id(fresh)].number, value.root.writes
        return value.number

    def _is_traced(self, leaf: Any) -> bool:
        if isinstance(leaf, Tensor):
            if not self._fold and isinstance(leaf, torch.nn.Parameter):
                return True
            value = self._find(leaf)
            return value is not None and (value.number in self._traced or value.root.writes > 0)
        return isinstance(leaf, _Tracked)

    # ------------------------------------------------------------------ sizes

    def _size(self, number: int, axis: int, value: int) -> int:
        name = self._dims.get((number, axis))
        if number not in self._open or name == "":
            return value
        expression = ("dim", name) if name else ("size", number, axis)
        return Size(value, expression, self.recording.guards, self.locate)

    def _sizes(self, tensor: Tensor) -> torch.Size:
        shape = _plainly(tuple, (tensor.shape,), {})
        if not self._is_traced(tensor):
            return torch.Size(shape)
        number = self._number(tensor)
        return torch.Size([self._size(number, axis, value) for axis, value in enumerate(shape)])

    def _ask_size(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        sizes = self._sizes(args[0])
        if name in ("numel", "nelement"):
            product: Any = 1
            for size in sizes:
                product = size * product
            return product
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        return sizes if axis is None else sizes[axis]

    # ------------------------------------------------------------------ calls

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = name_of(func)
        if name in ("shape", "size", "numel", "nelement") and isinstance(args[0], Tensor):
            return self._ask_size(name, args, kwargs)
        row = self._translated(name)
        traced = any(map(self._is_traced, iterate_leaves((args, kwargs))))
        chance = (row is not None and row.random) or name in _RANDOM_WRITES
        if not traced and not chance:
            tensors = [each for each in iterate_leaves((args, kwargs)) if isinstance(each, Tensor)]
            self.recording.foreign |= any(
                id(each) not in self._known and id(each) not in self._parameters for each in tensors
            )
            result = _plainly(func, self._before_call(name, args), kwargs)
            self._known.update((id(each), each) for each in iterate_leaves(result) if isinstance(each, Tensor))
            return result
        if name in _VALUES and any(isinstance(each, Tensor) for each in args[:1]):
            return self._answer(func, name, args, kwargs)
        if (getattr(func, "__name__", "") == "__get__" and row is None) or name in _INERT:
            return _plainly(func, args, kwargs)
        if kwargs.get("out") is not None:
            return self._call_out(func, args, kwargs)
        if name in _RESHAPING:
            return self._reshape(func, name, args, kwargs)
        if name == "setitem" or (name.endswith("_") and not name.endswith("__")):
            return self._write(func, name, args, kwargs)
        body = getattr(func, "__wrapped__", None)
        if body is not None and (row is None or func.__module__ in _BY_PARTS) and name not in _WHOLE:
            with self:
                return body(*args, **kwargs)
        decomposition = self._decompositions.get(name)
        if decomposition is not None and row is None:
            with self:
                return decomposition(*args, **kwargs)
        return self._record(name, func, args, kwargs)

    def _answer(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A value that Python asked for: what depends on sizes only is compared with the other recording's."""
        tensors = [each for each in iterate_leaves((args, kwargs)) if isinstance(each, Tensor)]
        values = [self._find(each) for each in tensors]
        if any(each is not None and self._number(each.tensor) in self._by_input for each in values):
            self._refuse_value(name)
        answer = _plainly(func, args, kwargs)
        self.recording.answers.append((self.locate(), name, answer))
        return answer

    def _refuse_value(self, name: str) -> None:
        asked = {"__bool__": "bool(tensor)", "is_nonzero": "bool(tensor)", "__int__": "int(tensor)"}
        asked |= {"__float__": "float(tensor)", "__index__": "an index made of a tensor", "item": "tensor.item()"}
        raise DataDependentError(
            f"{self.locate()}: {asked.get(name, f'tensor.{name}()')} needs a value that only the inputs decide: "
            "a graph has no `if` or loop of Python's. Use torch.where or masks, or export the parts"
        )

    def _before_call(self, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """A constant that earlier records refer to is about to be written: they keep what they saw."""
        if args and isinstance(args[0], Tensor) and (name == "setitem" or (name[-1:] == "_" and name[-2:] != "__")):
            for value in list(self._values.values()):
                kept = self.recording.constants.get(value.number)
                if kept is value.tensor and _storage(kept) == _storage(args[0]):
                    self.recording.constants[value.number] = _plainly(torch.clone, (kept,), {})
                    self.recording.names.pop(value.number, None)
                    del self._values[id(value.tensor)]
                    self._storages.pop(_storage(kept), None)
                    self._keep(value)
        return args

    def _keep(self, value: _Value) -> None:
        """Its tensor lives on, so that no other gets its id."""
        self._values[-value.number] = value

    def _record(self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls, and records the call; results of one storage with an argument become views of it."""
        location = self.locate()
        referred = map_leaves(self.refer, args), map_leaves(self.refer, kwargs)
        result = _plainly(func, args, kwargs)
        if not any(isinstance(each, Tensor) for each in iterate_leaves(result)):
            return result
        row = self._translated(name)
        arguments = list(iterate_leaves(referred))
        used = {each.number for each in arguments if isinstance(each, Reference)}
        sized = is_data_sized(row, name, args)
        self.recording.data_sized |= sized
        is_open = sized or bool(used & self._open) or any(isinstance(each, _Tracked) for each in arguments)
        by_input = bool(used & self._by_input) or bool(row and row.random)
        parents = {
            _storage(each): self._values[id(each)]
            for each in iterate_leaves((args, kwargs))
            if isinstance(each, Tensor) and id(each) in self._values
        }
        position = -1

        def keep(leaf: Any) -> Any:
            nonlocal position
            position += 1
            if not isinstance(leaf, Tensor):
                return leaf
            if id(leaf) in self._values:  # an argument itself
                self._count += 1
                number = self._count
                self.recording.shapes[number] = _plainly(tuple, (leaf.shape,), {})
                self.recording.dtypes[number] = leaf.dtype
            else:
                value = self._register(leaf)
                number = value.number
                parent = parents.get(_storage(leaf))
                if parent is not None and _storage(leaf):
                    value.root, value.seen = parent.root, parent.root.writes
                    value.steps = (*parent.steps, _step(func, args, kwargs, parent.tensor, position))
            self._traced.add(number)
            if is_open:
                self._open.add(number)
            if by_input:
                self._by_input.add(number)
            else:
                self.recording.computed[number] = _plainly(torch.clone, (leaf,), {})
            return Reference(number)

        results = map_leaves(keep, result)
        self.recording.records.append(Record(name, *referred, results, location, sized))
        return result

    # ------------------------------------------------------------------ writes

    def _reshape(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target = args[0]
        with self:
            view = getattr(target, name[:-1])(*args[1:], **kwargs)
        _plainly(func, args, kwargs)
        value = self._values[id(view)]
        self._keep(self._values[id(target)])
        self._values[id(target)] = replaced = _Value(target, value.number, value.steps, value.seen, value.writes)
        replaced.root = replaced if value.root is value else value.root
        return target

    def _call_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """f(..., out=t) is t.copy_(f(...))."""
        out = kwargs["out"]
        others = {name: value for name, value in kwargs.items() if name != "out"}
        with self:
            result = func(*args, **others)
            pairs = zip(out, result, strict=True) if isinstance(out, (list, tuple)) else [(out, result)]
            for target, value in pairs:
                target.copy_(value)
        return out

    def _write(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An in-place function: the functional one, of whose result the target then holds the elements."""
        target = args[0]
        if self._find(target) is None:
            base = target if target._base is None else target._base
            kept = _plainly(torch.clone, (base,), {})
            self._before_call(name, args)
            value = self._register_constant(base)
            self.recording.constants[value.number] = kept
            self._traced.add(value.number)  # from here on, what is made of it is recorded
            if base is not target:
                value.writes += 1
                value.seen = value.writes
                self._find(target)
        functional = name.removesuffix("_")
        if functional in self._decompositions and self._translated(functional) is None:
            with self:
                fresh = self._decompositions[functional](*args, **kwargs)
        else:

            def on_a_copy(first: Tensor, *rest: Any, **named: Any) -> Any:
                return func(first.clone(), *rest, **named)

            fresh = self._record(functional, on_a_copy, args, kwargs)
        _plainly(func, args, kwargs)
        self._replace(target, fresh)
        return target

    def _replace(self, target: Tensor, fresh: Tensor) -> None:
        value = self._values[id(target)]
        root = value.root
        if value is not root:
            with self:
                shape = root.tensor.shape
                positions = torch.arange(root.tensor.numel()).reshape(shape)
                for step in value.steps:
                    positions = step(positions)
                flat = root.tensor.reshape(-1).scatter(0, positions.reshape(-1), fresh.reshape(-1))
                whole = flat.reshape(shape)
            self._follow(root, whole)
        self._follow(value, fresh)

    def _follow(self, value: _Value, fresh: Tensor) -> None:
        """From now on `value` holds what `fresh` holds."""
        number = self._number(fresh)
        value.number = number
        if value is value.root:
            value.writes += 1
        value.seen = value.root.writes


def _step(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], parent: Tensor, position: int
) -> Callable[[Tensor], Tensor]:
    """The call again, of another tensor in place of `parent`."""

    def take(base: Tensor) -> Tensor:
        def swap(leaf: Any) -> Any:
            return base if leaf is parent else leaf

        result = func(*map_leaves(swap, args), **map_leaves(swap, kwargs))
        return list(iterate_leaves(result))[position]  # type: ignore[no-any-return]

    return take


__all__ = ["Ratio", "Record", "Recorder", "Recording", "Reference", "Size", "iterate_leaves", "map_leaves", "name_of"]
