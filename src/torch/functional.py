"""Functions of `torch` that are written in terms of its operators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def is_tensor(obj: object) -> bool:
    """Whether `obj` is a `torch.Tensor`."""
    return isinstance(obj, torch.Tensor)


def is_storage(obj: object) -> bool:
    """Whether `obj` is a storage."""
    from torch.storage import TypedStorage

    return isinstance(obj, (TypedStorage, _C.UntypedStorage))


def is_nonzero(input: Tensor) -> bool:
    """The truth of a tensor of one element; RuntimeError for others."""
    return bool(input)


def set_default_dtype(d: torch.dtype) -> None:
    """Sets the dtype of new floating tensors. TypeError unless it is a floating dtype."""
    _C._set_default_dtype(d)


def set_default_device(device: torch.device | str | None) -> None:
    """Only the CPU can be the default device here; others raise NotImplementedError."""
    if device is not None and torch.device(device).type != "cpu":
        raise NotImplementedError("set_default_device supports 'cpu' only: pass device= where tensors are made")


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: None = None,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """(sum |x|^p)^(1/p) over `dim` (default: all). `p`: a number, inf, -inf, 0 (counts), or "fro" (2)."""
    if out is not None:
        raise NotImplementedError("torch.norm(out=...) is not supported: use out.copy_(torch.norm(...))")
    if not (input.is_floating_point() or (dtype is not None and dtype.is_floating_point)):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{input.type().removeprefix('torch.').removesuffix('Tensor')}"
        )
    if p == "nuc":
        raise NotImplementedError("torch.norm(p='nuc') needs singular values: use numpy.linalg.norm(x.numpy(), 'nuc')")
    if isinstance(p, str) and p != "fro":
        raise ValueError(f"torch.norm: p must be a number, 'fro' or 'nuc', not {p!r}")
    if dtype is not None:
        input = input.to(dtype)
    power = 2.0 if p is None or isinstance(p, str) else float(p)
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if dim is None and not keepdim and math.isfinite(power) and power != 0:
        return _C._VariableFunctions.norm(input, power)
    if input.dim() == 0 or not dims:
        return input.abs()
    if power == math.inf:
        return input.abs().amax(dims, keepdim)
    if power == -math.inf:
        return input.abs().amin(dims, keepdim)
    if power == 0:
        return (input != 0).to(input.dtype).sum(dims, keepdim)
    if power == 1:
        return input.abs().sum(dims, keepdim)
    if power == 2:
        return (input * input).sum(dims, keepdim).sqrt()
    return input.abs().pow(power).sum(dims, keepdim).pow(1.0 / power)


def broadcast_shapes(*shapes: int | Sequence[int]) -> torch.Size:
    """The shape that tensors of these shapes have together; RuntimeError if they have none."""
    tuples = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result: list[int] = []
    for position in range(1, max((len(shape) for shape in tuples), default=0) + 1):
        sizes = {shape[-position] for shape in tuples if len(shape) >= position} - {1}
        if len(sizes) > 1:
            raise RuntimeError(
                "Shape mismatch: objects cannot be broadcast to a single shape: " + ", ".join(map(str, tuples))
            )
        result.insert(0, sizes.pop() if sizes else 1)
    return torch.Size(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors (or those of one list) as views of their common shape."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(_C._VariableFunctions.broadcast_tensors(given))


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates from 1-d tensors: output k varies along dimension k ("ij"), or 0 and 1 swapped ("xy")."""
    vectors = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(vectors) > 1
    if swap:
        vectors[0], vectors[1] = vectors[1], vectors[0]
    shape = [vector.numel() for vector in vectors]
    grids = [
        vector.reshape([-1 if n == number else 1 for n in range(len(vectors))]).expand(shape)
        for number, vector in enumerate(vectors)
    ]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2, out: None = None) -> Tensor:
    """Sums products over `dims`: the last n of `a` with the first n of `b`, or two lists of dimensions."""
    if out is not None:
        raise NotImplementedError("torch.tensordot(out=...) is not supported: use out.copy_(torch.tensordot(...))")
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims_a, dims_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        dims_a, dims_b = ([d % t.dim() for d in listed] for t, listed in zip((a, b), dims, strict=True))
    for one, other in zip(dims_a, dims_b, strict=True):
        if a.size(one) != b.size(other):
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.size(one)} in dim {one} and second has size {b.size(other)} in dim {other}"
            )
    free_a = [d for d in range(a.dim()) if d not in dims_a]
    free_b = [d for d in range(b.dim()) if d not in dims_b]
    shared = math.prod(a.size(d) for d in dims_a)
    left = a.permute(*free_a, *dims_a).reshape(-1, shared) if a.dim() else a.reshape(1, 1)
    right = b.permute(*dims_b, *free_b).reshape(shared, -1) if b.dim() else b.reshape(1, 1)
    return (left @ right).reshape([a.size(d) for d in free_a] + [b.size(d) for d in free_b])


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products in Einstein's notation, such as "bij,bjk->bik"; "..." is not supported (NotImplementedError)."""
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    equation = equation.replace(" ", "")
    if "." in equation:
        raise NotImplementedError("einsum: '...' is not supported here: name every dimension")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise ValueError(f"einsum(): the equation has {len(terms)} operands, but {len(tensors)} were given")
    if not arrow:
        right = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    letters = right + "".join(sorted(set(left) - {","} - set(right)))
    sizes: dict[str, int] = {}
    aligned = []
    for term, tensor in zip(terms, tensors, strict=True):
        if len(term) != tensor.dim():
            raise RuntimeError(f"einsum(): '{term}' names {len(term)} dimensions of a {tensor.dim()}-d operand")
        for letter in sorted(set(term)):
            while term.count(letter) > 1:  # a repeated letter takes the diagonal
                first, second = [n for n, found in enumerate(term) if found == letter][:2]
                tensor = tensor.diagonal(0, first, second)
                term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
        for letter, size in zip(term, tensor.shape, strict=True):
            if sizes.setdefault(letter, size) != size and 1 not in (size, sizes[letter]):
                raise RuntimeError(f"einsum(): subscript {letter} has size {size} and {sizes[letter]}")
            sizes[letter] = max(sizes[letter], size)
        present = [letter for letter in letters if letter in term]
        tensor = tensor.permute([term.index(letter) for letter in present]) if present else tensor
        aligned.append((set(term), tensor))
    return _contract(aligned, letters, right)


def _contract(operands: list[tuple[set[str], Tensor]], letters: str, right: str) -> Tensor:
    """Multiplies operands (dimensions in the order of `letters`) two at a time by batched matrix products."""
    names, result = operands[0]
    for position, (other_names, other) in enumerate(operands[1:], 1):
        later = set(right).union(*(names for names, _ in operands[position + 1 :]))
        names, result = _pair(names, result, other_names, other, letters, later)
    gone = [n for n, letter in enumerate(letter for letter in letters if letter in names) if letter not in right]
    return result.sum(gone) if gone else result


def _pair(
    names_a: set[str], a: Tensor, names_b: set[str], b: Tensor, letters: str, later: set[str]
) -> tuple[set[str], Tensor]:
    shared = names_a & names_b
    batch = [letter for letter in letters if letter in shared & later]
    summed = [letter for letter in letters if letter in shared - later]
    only_a = [letter for letter in letters if letter in names_a - shared]
    only_b = [letter for letter in letters if letter in names_b - shared]
    order_a = [letter for letter in letters if letter in names_a]
    order_b = [letter for letter in letters if letter in names_b]
    a = a.permute([order_a.index(letter) for letter in batch + only_a + summed]) if order_a else a
    b = b.permute([order_b.index(letter) for letter in batch + summed + only_b]) if order_b else b
    shape_a, shape_b = list(a.shape), list(b.shape)
    batch_sizes = [max(x, y) for x, y in zip(shape_a, shape_b, strict=False)][: len(batch)]
    free_a, free_b = shape_a[len(batch) : len(batch) + len(only_a)], shape_b[len(batch) + len(summed) :]
    inner = [max(x, y) for x, y in zip(shape_a[len(batch) + len(only_a) :], shape_b[len(batch) :], strict=False)]
    a = a.expand(batch_sizes + free_a + inner[: len(summed)]) if a.dim() else a
    b = b.expand(batch_sizes + inner[: len(summed)] + free_b) if b.dim() else b
    count = math.prod(inner[: len(summed)])
    left = a.reshape(math.prod(batch_sizes), math.prod(free_a), count)
    right = b.reshape(math.prod(batch_sizes), count, math.prod(free_b))
    product = torch.bmm(left, right).reshape(batch_sizes + free_a + free_b)
    order = batch + only_a + only_b
    present = [letter for letter in letters if letter in order]
    if present:
        product = product.permute([order.index(letter) for letter in present])
    return set(order), product


def atleast_1d(*tensors: Tensor) -> Any:
    """0-d tensors as 1-d ones; a tuple if several were given."""
    result = tuple(tensor.reshape(1) if tensor.dim() == 0 else tensor for tensor in tensors)
    return result[0] if len(result) == 1 else result


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates along dimension 1; 1-d tensors are columns."""
    return torch.cat([tensor.reshape(-1, 1) if tensor.dim() < 2 else tensor for tensor in tensors], 1)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Distances between all rows: (..., P, M), (..., R, M) -> (..., P, R), by the norm of order `p`."""
    return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def var_mean(input: Tensor, dim: Any = None, *, correction: float = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean."""
    mean = input.mean() if dim is None and not keepdim else input.mean(_all_dims(input, dim), keepdim)
    return input.var(dim, correction=correction, keepdim=keepdim), mean


def std_mean(input: Tensor, dim: Any = None, *, correction: float = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean."""
    variance, mean = var_mean(input, dim, correction=correction, keepdim=keepdim)
    return variance.sqrt(), mean


def _all_dims(input: Tensor, dim: Any) -> Any:
    return list(range(input.dim())) if dim is None else dim


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Rows and columns (2, N) of a matrix's elements on and below its diagonal `offset`."""
    return torch.ones(row, col).tril(offset).nonzero().t().contiguous()


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Rows and columns (2, N) of a matrix's elements on and above its diagonal `offset`."""
    return torch.ones(row, col).triu(offset).nonzero().t().contiguous()


def typename(obj: Any) -> str:
    """The type's full name; torch.FloatTensor and the like for tensors."""
    if isinstance(obj, torch.Tensor):
        return obj.type()
    kind = type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates along dimension 1, 1-d tensors along dimension 0."""
    flat = [atleast_1d(tensor) for tensor in tensors]
    return torch.cat(flat, 0 if flat[0].dim() == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates along dimension 0; 1-d tensors are rows."""
    return torch.cat([tensor.reshape(1, -1) if tensor.dim() < 2 else tensor for tensor in tensors], 0)
