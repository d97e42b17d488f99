"""Runs a model once, with its real arguments, and keeps which operators it called on what.

`Recorder` is a mode: it sees every function of torch that Python calls. What depends on the inputs becomes a `Record`;
all else is computed and ends as a constant, so weights that are derived from others are folded. Functions that are
written in Python are recorded by their parts, unless a translation has their name. There is no recording of writes: an
in-place function is its functional form, after which the tensor stands for another value; a write into a view is a
scatter into the tensor that it views, and other views of that are taken again when they are read.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, Tensor
from torch.onnx._functions import (
    BY_PARTS,
    INERT,
    RANDOM_WRITES,
    RESHAPING,
    VALUES,
    WHOLE,
    in_order,
    is_data_sized,
    name_of,
)
from torch.onnx._recording import Record, Recording, Reference, flatten_outputs, iterate_leaves, map_leaves
from torch.onnx._sizes import Size, _Tracked
from torch.onnx.errors import DataDependentError, UnsupportedOperatorError
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable

_TORCH = str(Path(torch.__file__).parent)
_HERE = str(Path(__file__).parent)


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


def _plainly(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with _C.DisableTorchFunction():
        return function(*args, **kwargs)


def _storage(tensor: Tensor) -> int:
    """Which memory it has; 0 for none."""
    if tensor.layout != torch.strided:
        return 0
    return tensor.untyped_storage().data_ptr() if tensor.numel() else 0


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
        if tensor.dtype != root.tensor.dtype:
            raise UnsupportedOperatorError(f"{self.locate()}: memory of {root.tensor.dtype} is read as {tensor.dtype}")
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
        name = name_of(func)
        args, kwargs = in_order(name, args, kwargs) if kwargs else (args, {})
        if name in ("shape", "size", "numel", "nelement") and isinstance(args[0], Tensor):
            return self._ask_size(name, args, kwargs)
        row = self._translated(name)
        traced = any(map(self._is_traced, iterate_leaves((args, kwargs))))
        chance = (row is not None and row.random) or name in RANDOM_WRITES
        if not traced and not chance:
            tensors = [each for each in iterate_leaves((args, kwargs)) if isinstance(each, Tensor)]
            self.recording.foreign |= any(
                id(each) not in self._known and id(each) not in self._parameters for each in tensors
            )
            result = _plainly(func, self._before_call(name, args), kwargs)
            self._known.update((id(each), each) for each in iterate_leaves(result) if isinstance(each, Tensor))
            return result
        if name in VALUES and any(isinstance(each, Tensor) for each in args[:1]):
            return self._answer(func, name, args, kwargs)
        if (getattr(func, "__name__", "") == "__get__" and row is None) or name in INERT:
            return _plainly(func, args, kwargs)
        if kwargs.get("out") is not None:
            return self._call_out(func, args, kwargs)
        if name in RESHAPING:
            return self._reshape(func, name, args, kwargs)
        if name == "setitem" or (name.endswith("_") and not name.endswith("__")):
            return self._write(func, name, args, kwargs)
        body = getattr(func, "__wrapped__", None)
        if body is not None and (row is None or func.__module__ in BY_PARTS) and name not in WHOLE:
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
