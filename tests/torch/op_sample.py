"""What the rows of op_db are made of, and how a sample becomes tensors.

A row's `path` says how it is called: `torch.NAME`, `F.NAME` (torch.nn.functional), `linalg.NAME` (so fft, special) or
`Tensor.NAME` (first argument is self). `T(shape, low, high)` stands for a tensor of the row's dtype with values from a
fixed sequence; `I(shape, high)` for int64 indices below `high`; `B(shape)` for a mask. The sequence is NumPy's, so the
samples do not depend on torch.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

FLOATS = ("float32", "float64")
INTEGERS = ("int64", "int32", "uint8")
BOOL = ("bool",)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, *BOOL)
MORE_TYPES = ("float16", "bfloat16", "complex64")
PREDICATES = ("float32", "int64", "bool")

# dtype -> relative and absolute tolerance: a few units in the last place
TOLERANCE = {
    "float64": (1e-12, 1e-13),
    "float32": (2e-6, 2e-6),
    "complex64": (6e-6, 6e-6),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
}


@dataclass(frozen=True)
class T:
    """A tensor of the row's dtype (or `dtype`); `strided`: a transposed view of a larger one."""

    shape: tuple[int, ...]
    low: float = -3.0
    high: float = 3.0
    dtype: str | None = None
    strided: bool = False
    gradient: bool = True


def I(shape: tuple[int, ...], high: int) -> T:  # noqa: E743 - short, as the table is long
    """Indices."""
    return T(shape, 0, high, "int64", gradient=False)


def B(shape: tuple[int, ...]) -> T:
    """A mask."""
    return T(shape, 0, 2, "bool", gradient=False)


@dataclass(frozen=True)
class Call:
    """One sample: positional arguments, keyword arguments."""

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, tuple(kwargs.items()))


@dataclass(frozen=True)
class Op:
    path: str
    calls: tuple[Call, ...]
    dtypes: tuple[str, ...] = FLOATS
    gradient: bool = True
    second_gradient: bool = False
    scale: float = 1.0  # of the tolerances
    gradient_scale: float = 1.0  # of the tolerance of gradients
    differences: bool = True  # finite differences tell the gradient: not where a function jumps

    @property
    def name(self) -> str:
        return self.path.partition(".")[2]


def op(path: str, *calls: Call, dtypes: tuple[str, ...] = FLOATS, gradient: bool = True, **more: Any) -> Op:
    return Op(path, calls, dtypes, gradient, **more)


def _array(spec: T, dtype: str, seed: int) -> np.ndarray[Any, Any]:
    generator = np.random.RandomState(seed)
    kind = spec.dtype or dtype
    shape = tuple(reversed(spec.shape)) if spec.strided else spec.shape
    if kind == "bool":
        values = generator.randint(0, 2, shape).astype(bool)
    elif kind.startswith(("int", "uint")):
        low = int(max(spec.low, 0) if kind == "uint8" else spec.low)
        values = generator.randint(low, max(int(spec.high), low + 1), shape).astype(kind)
    elif kind.startswith("complex"):
        parts = [np.round(generator.uniform(low, high, shape), 3) for low, high in ((spec.low, spec.high), (-2, 2))]
        values = (parts[0] + 1j * parts[1]).astype(kind)
    else:  # NumPy has no bfloat16: build() makes it from float32
        kind = "float32" if kind == "bfloat16" else kind
        values = np.round(generator.uniform(spec.low, spec.high, shape), 3).astype(kind)
    return np.asarray(values)


def build(
    torch: Any, sample: Call, dtype: str, *, gradients: bool = False
) -> tuple[list[Any], dict[str, Any], list[Any]]:
    """The arguments of a sample in `dtype`, and those tensors among them that require a gradient."""
    seed = zlib.crc32(repr(sample).encode())
    leaves: list[Any] = []
    count = 0

    def convert(value: Any) -> Any:
        nonlocal count
        if isinstance(value, tuple) and any(isinstance(item, T) for item in value):
            return tuple(convert(item) for item in value)
        if isinstance(value, str) and value in FLOATS:
            return getattr(torch, value)
        if not isinstance(value, T):
            return value
        count += 1
        array = _array(value, dtype, seed + count)
        tensor = torch.from_numpy(array.copy())
        if (value.dtype or dtype) == "bfloat16":
            tensor = tensor.to(torch.bfloat16)
        if value.strided:
            tensor = tensor.permute(*reversed(range(tensor.dim())))
        if gradients and value.gradient and tensor.is_floating_point():
            tensor.requires_grad_()
            leaves.append(tensor)
        return tensor

    args = [convert(value) for value in sample.args]
    kwargs = {name: convert(value) for name, value in sample.kwargs}
    return args, kwargs, leaves


def function_of(torch: Any, path: str) -> Any:
    """The callable behind a row's path."""
    home, _, name = path.partition(".")
    if home == "F":
        return getattr(torch.nn.functional, name)
    if home == "Tensor":

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            # In-place operators work on a copy, so that leaves may require gradients.
            target = self.clone() if name.endswith("_") else self
            return getattr(target, name)(*args, **kwargs)

        return method
    return getattr(torch if home == "torch" else getattr(torch, home), name)


def function_of_leaves(torch: Any, row: Op, sample: Call) -> tuple[Any, list[Any]]:
    """A sample as a function of the tensors that require a gradient, and those, of float64."""
    args, kwargs, leaves = build(torch, sample, "float64", gradients=True)
    function = function_of(torch, row.path)

    def of_leaves(*values: Any) -> Any:
        known = {id(leaf): value for leaf, value in zip(leaves, values, strict=True)}

        def replaced(arg: Any) -> Any:
            return tuple(map(replaced, arg)) if isinstance(arg, tuple) else known.get(id(arg), arg)

        named = {name: replaced(value) for name, value in kwargs.items()}
        return real_outputs(torch, function(*map(replaced, args), **named))

    return of_leaves, leaves


def real_outputs(torch: Any, value: Any) -> Any:
    """What gradcheck can tell apart: tensors, with complex ones as pairs of real ones."""
    if isinstance(value, torch.Tensor):
        return torch.view_as_real(value) if value.is_complex() else value
    return [real_outputs(torch, item) for item in value] if isinstance(value, (tuple, list)) else value


def check_gradient(function: Any, given: Any) -> None:
    """gradcheck of one input, with complex numbers as pairs of real ones."""
    import torch

    if given.is_complex():
        pairs = torch.view_as_real(given).clone().requires_grad_()
        assert torch.autograd.gradcheck(lambda x: real_outputs(torch, function(torch.view_as_complex(x))), (pairs,))
    else:
        assert torch.autograd.gradcheck(lambda x: real_outputs(torch, function(x)), (given.clone().requires_grad_(),))
