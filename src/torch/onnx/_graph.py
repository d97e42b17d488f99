"""What translations write into: the nodes and initializers of an ONNX graph.

`graph.op("Add", x, 1.0)` appends a node and gives its result. Inputs are `Var`s, None for one that is left out, numbers
(which become constants of the first Var's dtype) and lists of ints (int64). A dynamic size is a `Dim`; `graph.sizes`
makes a tensor of a list of them. `graph.results` says what the operator gave: dtypes, and sizes, None for dynamic ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.onnx.errors import SymbolicValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.onnx._sizes import Expression

# TensorProto.DataType
ELEMENT_TYPES: dict[torch.dtype, int] = {
    torch.float32: 1, torch.uint8: 2, torch.int8: 3, torch.uint16: 4, torch.int16: 5, torch.int32: 6, torch.int64: 7,
    torch.bool: 9, torch.float16: 10, torch.float64: 11, torch.uint32: 12, torch.uint64: 13, torch.complex64: 14,
    torch.complex128: 15, torch.bfloat16: 16,
}  # fmt: skip
DTYPES = {number: dtype for dtype, number in ELEMENT_TYPES.items()}


def real_dtype(dtype: torch.dtype) -> torch.dtype:
    """Of the parts of complex numbers; a real dtype itself."""
    return dtype.to_real() if dtype.is_complex else dtype


def as_stored(tensor: Tensor) -> Tensor:
    """A tensor as the graph has it: complex numbers are pairs, in a last dimension."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


_BOOLS = frozenset(
    ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf"]
)
_INTS = frozenset(["Shape", "Size", "NonZero", "ArgMax", "ArgMin"])

# Operators that ONNX or onnxruntime has not for some dtypes: they are computed in another, which holds the same values.
_WIDER: dict[str, tuple[tuple[torch.dtype, ...], torch.dtype]] = {
    **dict.fromkeys(["Max", "Min", "ArgMax", "ArgMin", "Pad"], ((torch.int16,), torch.int32)),
    **dict.fromkeys(["Trilu", "Einsum", "MatMul", "Neg"], ((torch.uint8, torch.int8, torch.int16), torch.int32)),
    "Where": ((torch.int16, torch.bool), torch.int32),
    "NonZero": ((torch.int8, torch.int16, torch.float64), torch.bool),
    **dict.fromkeys(["Sign", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "TopK"], ((torch.bool,), torch.int32)),
    "ScatterElements": ((torch.float16,), torch.float32),
    "Unique": ((torch.uint8, torch.int16, torch.int32, torch.bool), torch.int64),
}


@dataclass(frozen=True)
class Dim:
    """A size that is known when the graph runs."""

    expression: Expression


@dataclass(frozen=True)
class Var:
    """A value of the graph. `shape` has None for dynamic sizes, and is None where nobody asked for it."""

    name: str
    dtype: torch.dtype
    shape: tuple[int | None, ...] | None = None

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        assert self.shape is not None, f"nobody knows the shape of {self.name}"
        return len(self.shape)

    def size(self, axis: int) -> int:
        """A size that must be static; SymbolicValueError otherwise."""
        assert self.shape is not None
        value = self.shape[axis]
        if value is None:
            raise SymbolicValueError(f"the size of dimension {axis} has to be static here")
        return value


@dataclass(frozen=True)
class Absent:
    """In place of a result that has no form in the graph: an error where it is used, `what` it is."""

    what: str


@dataclass(frozen=True)
class Result:
    """What the recorded operator gave."""

    dtype: torch.dtype
    shape: tuple[int | None, ...]


@dataclass
class Node:
    """A node, as data."""

    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    domain: str
    location: str


@dataclass
class Graph:
    """Nodes and initializers while they are made."""

    opset: int
    nodes: list[Node] = field(default_factory=list)
    initializers: dict[str, Tensor] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    location: str = ""
    domains: dict[str, int] = field(default_factory=dict)
    leaves: dict[Any, tuple[Var, int]] = field(default_factory=dict)  # ("dim", name) -> whose size it is
    _numbers: dict[Any, Var] = field(default_factory=dict)
    _sizes: dict[Any, Var] = field(default_factory=dict)
    _count: int = 0

    @property
    def dtype(self) -> torch.dtype:
        """Of the operator's first result."""
        return self.results[0].dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Of the operator's first result."""
        return self.results[0].shape

    # ------------------------------------------------------------------ nodes

    def name(self, hint: str = "value") -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{hint}_{self._count}"

    def op(
        self,
        op: str,
        *inputs: Any,
        dtype: torch.dtype | None = None,
        outputs: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> Any:
        """A new node's result (a tuple for several `outputs`), of the first input's dtype unless it is said."""
        if "::" in op:
            domain, op = op.split("::")
        if domain:
            self.domains.setdefault(domain, 1)
        is_move = op == "ScatterElements" and "reduction" not in attributes
        narrow, wide = self._widening(op, inputs) if not domain and not is_move else (None, None)
        if wide is not None:
            return self._widened(op, inputs, narrow, wide, dtype, outputs, attributes)
        first = next((each for each in inputs if isinstance(each, Var)), None)
        kind = dtype or (torch.bool if op in _BOOLS else torch.int64 if op in _INTS else first.dtype if first else None)
        names = [self.name(op) for _ in range(outputs)]
        given = [self.as_input(each, first.dtype if first else torch.float32) for each in inputs]
        while given and not given[-1]:
            given.pop()
        kept = {re.sub("_[fist]?$", "", name): value for name, value in attributes.items() if value is not None}
        for name, value in kept.items():
            if any(isinstance(each, Dim) for each in (value if isinstance(value, (list, tuple)) else [value])):
                raise SymbolicValueError(f"{op} needs a static {name}")
        self.nodes.append(Node(op, given, names, kept, domain, self.location))
        assert kind is not None
        made = tuple(Var(name, kind) for name in names)
        return made if outputs > 1 else made[0]

    @staticmethod
    def _widening(op: str, inputs: Sequence[Any]) -> tuple[Any, Any]:
        """A dtype of the inputs that the operator is not there for, and the one to compute in; None where it is."""
        narrow, wide = _WIDER.get(op, ((), None))
        kinds = [each.dtype for each in inputs[op == "Where" :] if isinstance(each, Var)]
        found = next((kind for kind in kinds if kind in narrow), None)
        return found, wide if found is not None else None

    def _widened(
        self,
        op: str,
        inputs: Sequence[Any],
        narrow: torch.dtype,
        wide: torch.dtype,
        dtype: torch.dtype | None,
        outputs: int,
        attributes: dict[str, Any],
    ) -> Any:
        given = [
            self.cast(each, wide)
            if isinstance(each, Var) and each.dtype == narrow and (index or op != "Where")
            else each
            for index, each in enumerate(inputs)
        ]
        made = self.op(op, *given, dtype=wide if dtype == narrow else dtype, outputs=outputs, **attributes)
        if outputs == 1:
            return self.cast(made, narrow) if made.dtype == wide else made
        return (self.cast(made[0], narrow), *made[1:])

    def as_input(self, value: Any, dtype: torch.dtype) -> str:
        """The name of a value that is a node's input; numbers become constants of `dtype`."""
        if value is None:
            return ""
        if isinstance(value, Var):
            return value.name
        if isinstance(value, (list, tuple)):
            return self.sizes(value).name
        return self.constant(value, dtype).name

    # ------------------------------------------------------------------ constants

    def constant(self, value: Any, dtype: torch.dtype | None = None) -> Var:
        """An initializer of a number, a list or a tensor."""
        if isinstance(value, Var):
            return self.cast(value, dtype or value.dtype)
        if isinstance(value, Dim):
            return self.op("Squeeze", self.cast(self._expression(value.expression), dtype or torch.int64), [0])  # type: ignore[no-any-return]
        tensor = as_stored(torch.as_tensor(value, dtype=dtype).detach())
        key = (tensor.dtype, tuple(tensor.shape), str(tensor.tolist())) if tensor.numel() <= 64 else None
        if key is not None and key in self._numbers:
            return self._numbers[key]
        var = Var(self.name("constant"), tensor.dtype, tuple(tensor.shape))
        self.initializers[var.name] = tensor
        if key is not None:
            self._numbers[key] = var
        return var

    # ------------------------------------------------------------------ sizes

    def number(self, size: Any, one: bool = False) -> Var:
        """A size (an int or a Dim) as int64 of no dimension; `one`: of one dimension."""
        if isinstance(size, Var):
            return size
        if not isinstance(size, Dim):
            return self.constant([size] if one else size, torch.int64)
        var = self._expression(size.expression)
        if isinstance(var, Var) and var.dtype.is_floating_point:
            raise SymbolicValueError("a fraction of sizes was used as a size")
        return var if one else self.op("Squeeze", var, [0])

    def sizes(self, values: Sequence[Any]) -> Var:
        """int64 of one dimension, of ints and Dims."""
        if not any(isinstance(each, (Dim, Var)) for each in values):
            return self.constant(torch.tensor(list(values), dtype=torch.int64).reshape(-1))
        parts = [
            self.op("Reshape", each, [1]) if isinstance(each, Var) else self.number(each, one=True) for each in values
        ]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0, dtype=torch.int64)

    def size_of(self, x: Var, axis: int) -> Any:
        """The size of a Var: an int where it is static, otherwise int64 of one dimension."""
        assert x.shape is not None
        axis %= max(x.rank, 1)
        if x.shape[axis] is not None:
            return x.shape[axis]
        return self._shape_part(x, axis)

    def sizes_of(self, x: Var) -> Var:
        """All of them, as int64."""
        if x.shape is not None and None not in x.shape:
            return self.sizes(list(x.shape))
        return self.op("Shape", x)

    def _shape_part(self, x: Var, axis: int) -> Var:
        key = (x.name, axis)
        if key not in self._sizes:
            self._sizes[key] = self.op("Shape", x, start=axis, end=axis + 1)
        return self._sizes[key]

    def _expression(self, expression: Expression) -> Any:
        """int64 (or float32) of one dimension."""
        if not isinstance(expression, tuple):
            return self.constant([expression], torch.int64 if isinstance(expression, int) else torch.float64)
        if expression in self._sizes:
            return self._sizes[expression]
        if expression[0] in ("dim", "size"):
            var, axis = self.leaves[expression if expression[0] == "dim" else expression[:2]]
            return self._shape_part(var, axis if expression[0] == "dim" else expression[2])
        name, *parts = expression
        values = [self._expression(part) for part in parts]
        made = self._arithmetic(name, values)
        self._sizes[expression] = made
        return made

    def _arithmetic(self, name: str, values: list[Any]) -> Var:
        floating = name == "truediv" or any(each.dtype.is_floating_point for each in values)
        if floating:
            values = [self.cast(each, torch.float64) for each in values]
        if name in ("floor", "ceil", "trunc", "round"):
            if floating and name != "trunc":
                values = [self.op(name.capitalize(), *values)]
            return self.cast(values[0], torch.int64)
        if name in ("add", "sub", "mul", "truediv", "pow", "neg", "abs"):
            return self.op("Div" if name == "truediv" else name.capitalize(), *values)
        if name == "mod":
            return self.op("Mod", *values) if not floating else self._floating_mod(*values)
        if name == "floordiv":
            if floating:
                return self.op("Floor", self.op("Div", *values))
            return self.op("Div", self.op("Sub", values[0], self.op("Mod", *values)), values[1])
        raise SymbolicValueError(f"{name} of sizes has no form in the graph")

    def _floating_mod(self, a: Var, b: Var) -> Var:
        return self.op("Sub", a, self.op("Mul", b, self.op("Floor", self.op("Div", a, b))))

    # ------------------------------------------------------------------ helpers of many rows

    def cast(self, x: Any, dtype: torch.dtype) -> Var:
        """`x` in `dtype`; numbers become constants."""
        if not isinstance(x, Var):
            return self.constant(x, dtype)
        if x.dtype == dtype:
            return x
        if dtype not in ELEMENT_TYPES:
            raise SymbolicValueError(f"ONNX has no {dtype}")
        if dtype.is_complex or x.dtype.is_complex:
            raise SymbolicValueError(f"{x.dtype} and {dtype} meet, but ONNX's operators take no complex numbers")
        return Var(self.op("Cast", x, to=ELEMENT_TYPES[dtype], dtype=dtype).name, dtype, x.shape)

    def reshape(self, x: Var, sizes: Sequence[Any]) -> Var:
        """`x` in these sizes, where one may be -1."""
        if 0 in [each for each in sizes if isinstance(each, int)]:
            return self.op("Reshape", x, self.sizes(sizes), allowzero=1)
        return self.op("Reshape", x, self.sizes(sizes))

    def to_result(self, x: Var, position: int = 0) -> Var:
        """`x` in the result's shape: for rows that only rearrange sizes and have at most one dynamic one."""
        shape = self.results[position].shape
        if shape.count(None) > 1:
            raise SymbolicValueError("more than one dynamic size")
        return self.reshape(x, [-1 if each is None else each for each in shape])

    def squeeze(self, x: Var, axes: Sequence[int]) -> Var:
        """Without these dimensions of size 1."""
        return self.op("Squeeze", x, list(axes)) if axes else x

    def unsqueeze(self, x: Var, axes: Sequence[int]) -> Var:
        """With dimensions of size 1 at these places of the result."""
        return self.op("Unsqueeze", x, list(axes)) if axes else x

    def transpose(self, x: Var, order: Sequence[int]) -> Var:
        """`x` with its dimensions in this order."""
        return x if list(order) == list(range(len(order))) else self.op("Transpose", x, perm=list(order))

    def reduce(self, kind: str, x: Var, axes: Sequence[int] | None, keepdim: bool) -> Var:
        """ReduceSum and its like; axes became an input in opset 18 (of ReduceSum in 13)."""
        if x.shape == ():
            return x
        if self.opset >= 18 or kind == "ReduceSum":
            return self.op(kind, x, None if axes is None else list(axes), keepdims=int(keepdim))
        return self.op(kind, x, axes=None if axes is None else list(axes), keepdims=int(keepdim))

    def windows(self, size: Any, width: int, step: int = 1, dilation: int = 1) -> Var:
        """Where windows lie along a dimension of `size` (an int, or int64 of one dimension): (windows, width)."""
        within = torch.arange(width) * dilation
        ends = dilation * (width - 1)
        if not isinstance(size, Var):
            return self.constant(torch.arange(0, max(size - ends, 0), step).reshape(-1, 1) + within)
        count = self.op("Squeeze", self.op("Sub", size, ends), [0])
        starts = self.op("Range", self.constant(0), count, self.constant(step), dtype=torch.int64)
        return self.op("Add", self.unsqueeze(starts, [1]), self.constant(within))  # type: ignore[no-any-return]

    def slice(self, x: Var, axis: int, start: Any, end: Any, step: int = 1) -> Var:
        """x[start:end:step] along one dimension."""
        return self.op("Slice", x, [start], [end], [axis], [step])

    def split(self, x: Var, sizes: Sequence[Any], axis: int) -> list[Var]:
        """Parts of these sizes along one dimension."""
        if len(sizes) == 1:
            return [x]
        return list(self.op("Split", x, list(sizes), axis=axis, outputs=len(sizes)))

    def pad(
        self, x: Var, before: Sequence[Any], after: Sequence[Any], mode: str = "constant", value: Any = None
    ) -> Var:
        """`x` with these numbers of elements on both sides of its dimensions."""
        fill = None if value is None or mode != "constant" else self.cast(value, x.dtype)
        return self.op("Pad", x, [*before, *after], fill, mode=mode)

    def expand(self, x: Var, sizes: Any) -> Var:
        """`x` broadcast to these sizes."""
        return self.op("Expand", x, sizes)
