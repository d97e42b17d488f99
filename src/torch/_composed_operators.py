"""Operators that PyTorch alone has, made of others.

A program meets them by name: as what `__torch_dispatch__` is shown, and where it calls them itself, as backward passes
that are written by hand do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def _nll_loss_forward(self: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int) -> Any:
    loss = torch._C._nn.nll_loss(self, target, weight, reduction, ignore_index)
    counted = target != ignore_index
    if reduction == 0:
        return loss, self.new_zeros(())
    weights = torch.ones_like(target, dtype=self.dtype) if weight is None else weight[target.masked_fill(~counted, 0)]
    return loss, (weights * counted).sum()


def _multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> Any:
    counted = (target < 0).cumsum(-1) == 0
    named = torch.zeros_like(target).scatter_add(-1, target.where(counted, 0), counted.long()) > 0
    return torch._C._nn.multilabel_margin_loss(self, target, reduction), named.to(self.dtype)


def _convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_sizes: Any, stride: list[int], padding: list[int],
    dilation: list[int], transposed: bool, output_padding: list[int], groups: int, output_mask: list[bool],
) -> Any:  # fmt: skip
    dims = input.dim() - 2
    stride, padding, dilation = ([*sizes] * (dims if len(sizes) == 1 else 1) for sizes in (stride, padding, dilation))
    by_input = by_weight = by_bias = None
    if output_mask[0]:
        reach = [dilation[i] * (weight.size(i + 2) - 1) for i in range(dims)]
        unread = [  # elements at the end that no window reached
            input.size(i + 2) - 1 - (grad_output.size(i + 2) - 1) * stride[i] + 2 * padding[i] - reach[i]
            for i in range(dims)
        ]
        options = (stride, padding, dilation, not transposed, [0] * dims if transposed else unread, groups)
        by_input = torch.convolution(grad_output, weight.conj(), None, *options)
    if output_mask[1]:
        ends = (input.conj(), grad_output) if transposed else (grad_output, input.conj())
        by_weight = torch._C._nn._convolution_weight_gradient(
            *ends, list(weight.shape), stride, padding, dilation, groups
        )
    if output_mask[2]:
        by_bias = grad_output.sum([0, *range(2, dims + 2)])
    return by_input, by_weight, by_bias


def _max_pool_backward(grad_output: Tensor, self: Tensor, *geometry: Any) -> Tensor:
    dims = len(geometry[0])
    places = geometry[-1].flatten(-dims)
    result = self.new_zeros((*self.shape[:-dims], math.prod(self.shape[-dims:])))
    return torch.empty_like(self).copy_(result.scatter_add_(-1, places, grad_output.flatten(-dims)).view(self.shape))


def _adaptive_avg_pool_backward(dims: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda grad_output, self: torch.ops.aten._adaptive_avg_pool_backward(grad_output, list(self.shape), dims)


def _embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    rows, places = grad_output.reshape(-1, grad_output.size(-1)), indices.reshape(-1)
    if scale_grad_by_freq:
        rows = rows / places.bincount(minlength=num_weights)[places].unsqueeze(-1)
    if padding_idx >= 0:
        rows = rows.masked_fill((places == padding_idx).unsqueeze(-1), 0)
    return rows.new_zeros(num_weights, rows.size(-1)).index_add_(0, places, rows)


def _layer_norm_backward(
    grad_out: Tensor, input: Tensor, shape: Sequence[int], mean: Tensor, rstd: Tensor, weight: Any, bias: Any,
    output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    wide = torch.promote_types(mean.dtype, torch.float32)
    rows = (mean.reshape(-1).to(wide), rstd.reshape(-1).to(wide))
    grad, x = grad_out.to(wide), input.to(wide)
    by_input = by_weight = by_bias = None
    if output_mask[0]:
        factor = None if weight is None else weight.to(wide)
        by_input = torch.ops.aten._normalize_rows_gradient(grad, x, factor, *rows, True).to(input.dtype)
    if output_mask[1] and weight is not None:
        by_weight = torch.ops.aten._normalize_rows_weight_gradient(grad, x, shape, *rows).to(weight.dtype)
    if output_mask[2] and bias is not None:
        by_bias = grad_out.sum(list(range(input.dim() - len(shape)))) if input.dim() > len(shape) else grad_out.clone()
    return by_input, by_weight, by_bias


def _group_norm_backward(
    grad_out: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Any, N: int, C: int, HxW: int, group: int,
    output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    wide = torch.promote_types(mean.dtype, torch.float32)
    grad, x = grad_out.to(wide).reshape(N, C, HxW), input.to(wide)
    mean, rstd = mean.to(wide), rstd.to(wide)
    by_input = by_weight = by_bias = None
    if output_mask[0]:
        weighted = grad if weight is None else grad * weight.view(C, 1)
        rows = [values.reshape(N * group, -1) for values in (weighted, x)]
        by_rows = torch.ops.aten._normalize_rows_gradient(*rows, None, mean.reshape(-1), rstd.reshape(-1), True)
        by_input = by_rows.view_as(input).to(input.dtype)
    if output_mask[1]:
        centered = x.reshape(N, group, -1) - mean.view(N, group, 1)
        by_weight = (grad * (centered * rstd.view(N, group, 1)).view(N, C, HxW)).sum([0, 2]).to(input.dtype)
    if output_mask[2]:
        by_bias = grad.sum([0, 2]).to(input.dtype)
    return by_input, by_weight, by_bias


def _batch_norm_without_training(
    input: Tensor, weight: Any, bias: Any, running_mean: Tensor, running_var: Tensor, momentum: float, eps: float
) -> Any:
    result = torch.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    return result, input.new_empty(0), input.new_empty(0)


def _batch_norm_backward(
    grad_out: Tensor, input: Tensor, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    shape = [-1, *[1] * (input.dim() - 2)]
    dims = [0, *range(2, input.dim())]
    mean, scale = (save_mean, save_invstd) if train else (running_mean, (running_var + eps).rsqrt())
    scale = scale.view(shape)
    wide = torch.promote_types(scale.dtype, torch.float32)
    grad, scale = grad_out.to(wide), scale.to(wide)
    centered = (input - mean.view(shape)) * scale
    by_weight, by_bias = (grad * centered).sum(dims), grad.sum(dims)
    by_input = grad
    if train:
        count = input.numel() // input.size(1)
        by_input = grad - (by_bias.view(shape) + centered * by_weight.view(shape)) / count
    by_input = (by_input * (scale if weight is None else scale * weight.view(shape))).to(input.dtype)
    found = (by_input, by_weight.to(input.dtype), by_bias.to(input.dtype))
    return tuple(value if asked else None for value, asked in zip(found, output_mask, strict=True))


def _resize(
    filtered: str, dims: int, takes_corners: bool, antialias: bool
) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """The operator whose factors are numbers, and that which has a list of them."""
    corners = ["align_corners"] * takes_corners
    factors = {1: ["scales"], 2: ["scales_h", "scales_w"], 3: ["scales_d", "scales_h", "scales_w"]}[dims]

    def resize(self: Tensor, output_size: Sequence[int], *rest: Any, **named: Any) -> Tensor:
        given = _bind((*corners, *factors), rest, named)
        aligned = bool(given.pop(0)) if takes_corners else False
        given = [None] * (3 - dims) + given
        return torch._C._nn._interpolate(self, list(output_size), *given, filtered, aligned, antialias)

    def resize_by_list(input: Tensor, output_size: Any, *rest: Any, **named: Any) -> Tensor:
        *aligned, scales = _bind((*corners, "scale_factors"), rest, named)
        if (output_size is None) == (scales is None):
            raise RuntimeError("Must specify exactly one of output_size and scale_factors")
        if scales is None:
            return resize(input, output_size, *aligned)
        sizes = [math.floor(input.size(place + 2) * scale) for place, scale in enumerate(scales)]
        return resize(input, sizes, *aligned, *scales)

    return resize, resize_by_list


def _bind(names: Sequence[str], given: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """The arguments in their order, None for those that are not given. TypeError for others."""
    unknown = sorted(named.keys() - set(names[len(given) :]))
    if unknown or len(given) > len(names):
        raise TypeError(f"expected {', '.join(names)}, got {len(given)} arguments by place and {unknown}")
    return [*given, *(named.get(name) for name in names[len(given) :])]


# By their names: the schema's rest, and the function.
COMPOSED: dict[str, tuple[str, Callable[..., Any]]] = {
    "_softmax": ("(Tensor self, int dim, bool half_to_float) -> Tensor", lambda x, dim, half_to_float: x.softmax(dim)),
    "_log_softmax": (
        "(Tensor self, int dim, bool half_to_float) -> Tensor",
        lambda x, dim, half_to_float: x.log_softmax(dim),
    ),
    "nll_loss_forward": (
        "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) "
        "-> (Tensor output, Tensor total_weight)",
        _nll_loss_forward,
    ),
    "multilabel_margin_loss_forward": (
        "(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
        _multilabel_margin_loss_forward,
    ),
    "convolution_backward": (
        "(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, "
        "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) "
        "-> (Tensor, Tensor, Tensor)",
        _convolution_backward,
    ),
    "max_pool2d_with_indices_backward": (
        "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, "
        "bool ceil_mode, Tensor indices) -> Tensor",
        _max_pool_backward,
    ),
    "max_pool3d_with_indices_backward": (
        "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, "
        "bool ceil_mode, Tensor indices) -> Tensor",
        _max_pool_backward,
    ),
    "_adaptive_avg_pool2d_backward": ("(Tensor grad_output, Tensor self) -> Tensor", _adaptive_avg_pool_backward(2)),
    "_adaptive_avg_pool3d_backward": ("(Tensor grad_output, Tensor self) -> Tensor", _adaptive_avg_pool_backward(3)),
    "embedding_dense_backward": (
        "(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) "
        "-> Tensor",
        _embedding_dense_backward,
    ),
    "native_layer_norm_backward": (
        "(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, "
        "Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        _layer_norm_backward,
    ),
    "native_group_norm_backward": (
        "(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, "
        "int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        _group_norm_backward,
    ),
    "_native_batch_norm_legit_no_training": (
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, "
        "float eps) -> (Tensor, Tensor, Tensor)",
        _batch_norm_without_training,
    ),
    "native_batch_norm_backward": (
        "(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, "
        "Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) "
        "-> (Tensor, Tensor, Tensor)",
        _batch_norm_backward,
    ),
    "sym_is_contiguous": (
        "(Tensor self, MemoryFormat memory_format=0) -> SymBool",
        lambda x, memory_format=torch.contiguous_format: x.is_contiguous(memory_format=memory_format),
    ),
    "_local_scalar_dense": ("(Tensor self) -> Scalar", lambda x: x.item()),
    "sym_size.int": ("(Tensor self, int dim) -> SymInt", lambda x, dim: x.size(dim)),
    "sym_stride.int": ("(Tensor self, int dim) -> SymInt", lambda x, dim: x.stride(dim)),
    "sym_numel": ("(Tensor self) -> SymInt", lambda x: x.numel()),
    "sym_storage_offset": ("(Tensor self) -> SymInt", lambda x: x.storage_offset()),
    "copy": (
        "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
        lambda self, src, non_blocking=False: torch.empty_like(self).copy_(src, non_blocking),
    ),
    "_unsafe_view": ("(Tensor self, SymInt[] size) -> Tensor", lambda x, size: x.reshape(size)),
    "lift_fresh": ("(Tensor(a) self) -> Tensor(a)", lambda x: x),
    "alias": ("(Tensor(a) self) -> Tensor(a)", lambda x: x.view(x.shape)),
}


_ROW_ARGUMENTS = {1: "float? scales=None", 2: "float? scales_h=None, float? scales_w=None"}
_ROW_ARGUMENTS[3] = f"float? scales_d=None, {_ROW_ARGUMENTS[2]}"
for _name, _filter, _dims in (
    ("upsample_nearest1d", "nearest", 1), ("upsample_nearest2d", "nearest", 2), ("upsample_nearest3d", "nearest", 3),
    ("_upsample_nearest_exact1d", "nearest-exact", 1), ("_upsample_nearest_exact2d", "nearest-exact", 2),
    ("_upsample_nearest_exact3d", "nearest-exact", 3), ("upsample_linear1d", "linear", 1),
    ("upsample_bilinear2d", "linear", 2), ("upsample_trilinear3d", "linear", 3), ("upsample_bicubic2d", "cubic", 2),
    ("_upsample_bilinear2d_aa", "linear", 2), ("_upsample_bicubic2d_aa", "cubic", 2),
):  # fmt: skip
    _takes = "nearest" not in _filter
    _corners = "bool align_corners, " if _takes else ""
    _functions = _resize(_filter, _dims, _takes, _name.endswith("_aa"))
    COMPOSED[_name] = (
        f"(Tensor self, SymInt[{_dims}] output_size, {_corners}{_ROW_ARGUMENTS[_dims]}) -> Tensor", _functions[0]
    )  # fmt: skip
    COMPOSED[f"{_name}.vec"] = (
        f"(Tensor input, SymInt[]? output_size, {_corners}float[]? scale_factors) -> Tensor", _functions[1]
    )  # fmt: skip
