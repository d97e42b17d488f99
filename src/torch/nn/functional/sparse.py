"""Looking vectors up in a table, one by one or bag by bag."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from torch import Tensor

_torch = _C._VariableFunctions

BAG_MODES = ("sum", "mean", "max")  # by their numbers


class _ScaleGradient(torch.autograd.Function):
    """Its input, whose gradient is multiplied by a constant tensor."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(scale)
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (scale,) = ctx.saved_tensors
        return gradients[0] * scale, None


def _renormalise(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are looked up to a norm of at most `max_norm`, in place."""
    with torch.no_grad():
        rows = torch.unique(indices)
        found = weight[rows]
        norms = found.norm(norm_type, 1, keepdim=True)
        weight[rows] = torch.where(norms > max_norm, found * (max_norm / (norms + 1e-7)), found)


def _look_up(weight: Tensor, input: Tensor, padding_idx: int, by_frequency: bool, sparse: bool) -> Tensor:
    if sparse and by_frequency and weight.requires_grad and torch.is_grad_enabled():
        raise RuntimeError("embedding: scale_grad_by_freq not supported with sparse gradients")
    found = _torch.embedding(weight, input, padding_idx, False, sparse)
    if not (by_frequency and found.requires_grad):
        return found
    counts = torch.bincount(input.reshape(-1), minlength=weight.size(0))
    return _ScaleGradient.apply(found, (1.0 / counts[input]).to(weight.dtype).unsqueeze(-1))  # type: ignore[no-any-return]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names: indices (*), table (rows, columns) -> (*, columns).

    Indices are int64 or int32. Row `padding_idx` (negative: counted from the end) gets no gradient. max_norm: rows that
    are looked up are first scaled, in place, to a norm (of order norm_type) of at most this. scale_grad_by_freq: a
    row's gradient is divided by how often it was looked up. sparse: the gradient of `weight` is a sparse tensor of the
    rows that were looked up, for `optim.SparseAdam`, `SGD` and `Adagrad`.

    >>> embedding(torch.tensor([1, 0]), torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    tensor([[2., 3.],
            [0., 1.]])
    """
    if padding_idx is not None:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    return _look_up(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sums, means or maxima of bags of rows of `weight`: indices (bags, size) -> (bags, columns).

    Indices may also be 1-d, with `offsets` (bags) where each bag begins, and with include_last_offset where the last
    one ends. mode: "sum", "mean" or "max". per_sample_weights: a factor for each index ("sum" alone). Row `padding_idx`
    counts in no bag. Other options are those of `embedding`. An empty bag gives 0.

    >>> embedding_bag(torch.tensor([[1, 0]]), torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    tensor([[1., 2.]])
    """
    if weight.dtype == torch.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if not weight.dim() == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        bags, size = input.shape
        offsets = torch.arange(bags, device=input.device) * size
        include_last_offset = False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    rows = weight.size(0)
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("padding_idx must be within the number of embeddings")
        padding_idx %= rows
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    padding = -1 if padding_idx is None else padding_idx
    return _torch._embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        BAG_MODES.index(mode),
        sparse,
        per_sample_weights,
        include_last_offset,
        padding,
    )[0]
