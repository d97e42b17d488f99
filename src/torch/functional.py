"""Functions of `torch` that take what only Python can say: any number of arguments, one option of several types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch._lowrank import pca_lowrank, svd_lowrank
from torch._overridable import overridable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "istft",
    "lu",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "stft",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]

_operators = _C._VariableFunctions
istft = _operators.istft
_COMPUTE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def is_tensor(obj: object) -> bool:
    """Whether `obj` is a `torch.Tensor`."""
    return isinstance(obj, torch.Tensor)


def is_storage(obj: object) -> bool:
    """Whether `obj` is a storage."""
    from torch.storage import TypedStorage

    return isinstance(obj, (TypedStorage, _C.StorageBase))


def typename(obj: Any) -> str:
    """The type's full name; torch.FloatTensor and the like for tensors."""
    if isinstance(obj, torch.Tensor):
        return obj.type()
    kind = type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def set_default_dtype(d: torch.dtype) -> None:
    """Sets the dtype of new floating tensors. TypeError unless it is a floating dtype."""
    _C._set_default_dtype(d)


def set_default_device(device: torch.device | str | None) -> None:
    """Sets where this thread makes tensors unless a device is named; None: on the CPU.

    `with torch.device(...)` does so for a while.
    """
    _C._set_default_device(device)


def get_default_device() -> torch.device:
    """Where this thread makes tensors unless a device is named."""
    return _C._get_default_device()


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


def _as_list(tensors: Any) -> Any:
    """A call's tensors, given one by one or as one list of them."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


@overridable
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices along its diagonal; numbers and vectors count as rows.

    >>> torch.block_diag(torch.ones(1, 2), torch.tensor(3.0))
    tensor([[1., 1., 0.],
            [0., 0., 3.]])
    """
    return _operators.block_diag(_as_list(tensors))


@overridable
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of one element of each vector, as rows.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    return _operators.cartesian_prod(_as_list(tensors))


@overridable
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not 0: a row each, or with `as_tuple` one vector per dimension.

    >>> torch.nonzero(torch.tensor([[0, 5], [7, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    if as_tuple:
        return _operators.where(input)
    result = _operators.nonzero(input)
    if out is None:
        return result
    if out.dtype is not torch.int64:
        raise RuntimeError(f"nonzero: Expected out tensor to have scalar type Long but got scalar type {out.dtype}")
    return out.resize_(result.shape).copy_(result)


def cond(
    pred: bool | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """What `true_fn` or `false_fn` makes of `operands`, as `pred` says. Only the one that is called is recorded.

    RuntimeError for a `pred` that is no number and no tensor of one element.

    >>> torch.cond(torch.tensor(False), torch.sin, torch.neg, (torch.ones(1),))
    tensor([-1.])
    """
    if not isinstance(pred, (bool, int, float, torch.Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, torch.Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expected both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expected operands to be a tuple of possibly nested dict/list/tuple, got {operands}.")
    return (true_fn if pred else false_fn)(*operands)


@overridable
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The positions, one tensor per dimension of `shape`, that positions in the flattened shape mean.

    >>> torch.unravel_index(torch.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not isinstance(indices, torch.Tensor):
        raise TypeError(f"unravel_index(): argument 'indices' must be Tensor, not {type(indices).__name__}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    return _operators.unravel_index(indices, sizes)


@overridable
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, each expanded to the shape that they have together; RuntimeError if they have none.

    >>> [list(tensor.shape) for tensor in torch.broadcast_tensors(torch.zeros(3), torch.zeros(2, 1))]
    [[2, 3], [2, 3]]
    """
    return _operators.broadcast_tensors(tensors)


def _atleast(operator: Callable[[Any], Any], tensors: tuple[Any, ...]) -> Any:
    return operator(tensors[0] if len(tensors) == 1 else tensors)


@overridable
def atleast_1d(*tensors: Any) -> Any:
    """The tensor with at least one dimension, or, of several tensors or a list of them, a tuple of such.

    >>> torch.atleast_1d(torch.tensor(1))
    tensor([1])
    """
    return _atleast(_operators.atleast_1d, tensors)


@overridable
def atleast_2d(*tensors: Any) -> Any:
    """The tensor with at least two dimensions, or, of several tensors or a list of them, a tuple of such.

    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _atleast(_operators.atleast_2d, tensors)


@overridable
def atleast_3d(*tensors: Any) -> Any:
    """The tensor with at least three dimensions, or, of several tensors or a list of them, a tuple of such.

    >>> torch.atleast_3d(torch.tensor([1, 2])).shape
    torch.Size([1, 2, 1])
    """
    return _atleast(_operators.atleast_3d, tensors)


@overridable
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid over 1-dimensional tensors: one tensor of the grid's shape for each of them.

    `indexing`: "ij", the default (the first tensor runs along dimension 0), or "xy" (along dimension 1).

    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([5, 6, 7]), indexing="ij")[1]
    tensor([[5, 6, 7],
            [5, 6, 7]])
    """
    listed = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    options = {} if indexing is None else {"indexing": indexing}
    return _operators.meshgrid(listed, **options)


@overridable
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """(sum |x|^p)^(1/p) over `dim` (default: all). `p`: a number, inf, -inf, 0 (counts), or "fro" (2)."""
    if p == "nuc":
        dims = (-2, -1) if dim is None else dim
        return _C._linalg.linalg_matrix_norm(input, "nuc", dims, keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise ValueError(f"torch.norm: p must be a number, 'fro' or 'nuc', not {p!r}")
    power = 2 if p is None or isinstance(p, str) else p
    if out is None and dtype is None and dim is None and not keepdim:
        return _operators.norm(input, power)
    options = {name: value for name, value in (("out", out), ("dtype", dtype)) if value is not None}
    if dim is None and not keepdim:
        return _operators.norm(input, power, **options)
    return _operators.norm(input, power, () if dim is None else dim, keepdim, **options)


@overridable
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums products over `dims`: the last n of `a` with the first n of `b`, or two lists of dimensions."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    else:
        dims_a, dims_b = (listed.tolist() if isinstance(listed, torch.Tensor) else list(listed) for listed in dims)
    return _operators.tensordot(a, b, dims_a, dims_b, out=out)


@overridable
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products in Einstein's notation, such as "bij,bjk->bik" or "...ij->...ji".

    A letter names a dimension, "..." those that the terms do not name. Letters that the result lacks are summed over;
    without an arrow the result has those that stand once. Operands are multiplied from left to right.
    """
    tensors = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    return _operators.einsum(equation, list(tensors))


@overridable
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Distances between all rows: (..., P, M), (..., R, M) -> (..., P, R), by the norm of order `p`.

    For p = 2 and more than 25 rows they come of a product of matrices: much faster, and for rows that are close to each
    other less exact. `compute_mode="donot_use_mm_for_euclid_dist"` does without, "use_mm_for_euclid_dist" never does.
    """
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _operators.cdist(x1, x2, p, _COMPUTE_MODES[compute_mode])


@overridable
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different values in ascending order, or the different slices of `dim`; a tuple if more is asked for.

    `return_inverse`: each element's (slice's) place among them; `return_counts`: how often each stands in `input`.
    """
    if dim is None:
        values, inverse, counts = _operators._unique2(input, sorted, return_inverse, return_counts)
    else:
        values, inverse, counts = _operators.unique_dim(input, dim, sorted, return_inverse, return_counts)
    if not return_inverse and not return_counts:
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


@overridable
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of a tensor along `dim`: of one size each, the last may have less, or of the sizes of a list.

    >>> [part.tolist() for part in torch.split(torch.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return _operators.split(tensor, split_size_or_sections, dim)  # type: ignore[return-value]


@overridable
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping frames of a signal: (..., L) -> (..., frequencies, frames).

    Frames are `n_fft` long and start every `hop_length` (default `n_fft // 4`); each is multiplied by `window`, which
    has `win_length` elements (default `n_fft`) and zeros around them. With `center` the signal is padded by half a
    frame at both ends, by `pad_mode`. `onesided` (default for real numbers): the first
    `n_fft // 2 + 1` frequencies only.

    >>> torch.stft(torch.ones(8), 4, center=False, return_complex=True)[:, 0]
    tensor([4.+0.j, 0.+0.j, 0.+0.j])
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        from torch.nn.functional import pad

        # Two dimensions in front of the signal are what padding by reflection takes.
        extended = input.view([1] * (3 - input.dim()) + list(input.shape))
        half = n_fft // 2
        padded = pad(extended, [half, half], pad_mode)
        input = padded.view(padded.shape[-input.dim() :])
    return _operators.stft(
        input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )


@overridable
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order that takes least work: `torch.linalg.multi_dot`, which one should call."""
    listed: Any = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    if len(listed) == 1:
        return listed[0]
    return _C._linalg.linalg_multi_dot(list(listed), out=out)


@overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """`(LU, pivots)` of an LU factorisation, and with `get_infos` one code per matrix: 0, or where U has a zero.

    `torch.linalg.lu_factor` is what one should call.
    """
    result: Any = _operators._lu_with_info(A, pivot, check_errors=not get_infos)
    if not get_infos:
        result = tuple(result[:2])
    if out is None:
        return result
    for target, value in zip(out, result, strict=True):
        target.resize_(value.shape).copy_(value)
    return out


@overridable
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices along `dim`, without those that repeat the one before; a tuple if more is asked for.

    `return_inverse`: each element's (slice's) place among them; `return_counts`: how often each is repeated.
    """
    values, inverse, counts = _operators.unique_consecutive(input, return_inverse, return_counts, dim)
    if not return_inverse and not return_counts:
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
