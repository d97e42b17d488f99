"""What `__torch_dispatch__` is shown of operators that are other ones in PyTorch, and operators that PyTorch alone has.

A row of native_functions.yaml is shown under its own name and with its own arguments, but for those of `RENAMED`
(another name) and `SHOWN` (other arguments). `COMPOSED` are operators that a program can only meet by name: as what it
is shown, and where it calls them itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

_RENAMED = """
empty empty.memory_format, transpose transpose.int, flatten flatten.using_ints, floor_divide_ floor_divide_.Tensor,
conv_transpose2d conv_transpose2d.input, conv_transpose3d conv_transpose3d.input, pow_.Tensor_Tensor pow_.Tensor,
pow_.Tensor_Scalar pow_.Scalar, float_power_.Tensor_Tensor float_power_.Tensor, float_power_.Tensor_Scalar
float_power_.Scalar, ldexp_.Tensor ldexp_, polygamma.self polygamma, polygamma_.self polygamma_, add.Tensor_out
add.out, sub.Tensor_out sub.out, mul.Tensor_out mul.out, div.Tensor_out div.out, div.Tensor_mode_out div.out_mode,
copysign.Tensor_out copysign.out, ldexp.Tensor_out ldexp.out, xlogy.Tensor_out xlogy.OutTensor, sum.dim_IntList_out
sum.IntList_out, mean.dim_out mean.out, prod.dim_int_out prod.int_out, var.dim_out var.out, std.dim_out std.out,
any.dim_out any.out, all.dim_out all.out, max.other_out max.out, max.dim_out max.dim_max, min.other_out min.out,
min.dim_out min.dim_min, median.dim_out median.dim_values, nanmedian.dim_out nanmedian.dim_values, sort.out
sort.values, topk.out topk.values, sort.stable_out sort.values_stable, kthvalue.out kthvalue.values, mode.out
mode.values, norm.ScalarOpt_dim_out norm.out, norm.ScalarOpt_dim_dtype_out norm.dtype_out
"""
RENAMED: dict[str, str] = dict(pair.split() for pair in _RENAMED.split(","))

# A number among tensors is one more tensor for these functions; the others of PyTorch have an overload for it.
_NUMBERS_AS_TENSORS = frozenset({"add", "sub", "mul", "div", "true_divide", "floor_divide", "multiply", "subtract"})


def takes_number(operator: Any, values: tuple[Any, ...]) -> bool:
    """Whether a call of `NAME.Tensor`, whose last tensor is a number, is one of `NAME.Scalar` in PyTorch."""
    if operator._overloadname != "Tensor" or operator.overloadpacket.__name__.removesuffix("_") in _NUMBERS_AS_TENSORS:
        return False
    numbers = [place for place, value in enumerate(values) if isinstance(value, (int, float, complex))]
    if not numbers or not isinstance(values[0], torch.Tensor):
        return False
    last = max(place for place, argument in enumerate(operator._schema.arguments) if argument.type == "Tensor")
    return last in numbers


_Shown = tuple[str, tuple[Any, ...], "Callable[[Any], Any]"]


def _same(result: Any) -> Any:
    return result


def _first(result: Any) -> Any:
    return result[0]


def _softmax(name: str) -> Callable[[Tensor, int, Any], _Shown]:
    def show(self: Tensor, dim: int, dtype: Any) -> _Shown:
        converted = self if dtype is None else self.to(dtype)
        return f"{name}.default", (converted, dim, False), _same

    return show


def _softmax_backward(grad: Tensor, output: Tensor, dim: int, log: bool) -> _Shown:
    name = "_log_softmax_backward_data" if log else "_softmax_backward_data"
    return f"{name}.default", (grad, output, dim, output.dtype), _same


def _normalize_rows(input: Tensor, shape: Any, weight: Any, bias: Any, eps: float, centered: bool) -> _Shown:
    if centered:
        return "native_layer_norm.default", (input, shape, weight, bias, eps), _same
    return "_normalize_rows.default", (input, shape, weight, bias, eps, centered), _same


def _convolution(input: Tensor, weight: Tensor, bias: Any, *geometry: Any) -> _Shown:
    dims = weight.dim() - 2
    lists = [value * dims if isinstance(value, list) and len(value) == 1 else value for value in geometry]
    return "convolution.default", (input, weight, bias, *lists), _same


def _norm(self: Tensor, p: Any) -> _Shown:
    return "linalg_vector_norm.default", (self, p, None, False, None), _same


def _subtract(self: Any, other: Any, alpha: Any) -> _Shown:
    if isinstance(self, (int, float, complex)):
        return "rsub.Scalar", (other, self, alpha), _same
    return "sub.Tensor", (self, other, alpha), _same


SHOWN: dict[str, Callable[..., _Shown]] = {
    "softmax.int": _softmax("_softmax"),
    "log_softmax.int": _softmax("_log_softmax"),
    "_softmax": lambda self, dim, log: (f"_{'log_' if log else ''}softmax.default", (self, dim, False), _same),
    "_softmax_backward": _softmax_backward,
    "nll_loss": lambda *values: ("nll_loss_forward.default", values, _first),
    "multilabel_margin_loss": lambda *values: ("multilabel_margin_loss_forward.default", values, _first),
    "item": lambda self: ("_local_scalar_dense.default", (self,), _same),
    "_normalize_rows": _normalize_rows,
    "sub.Tensor": _subtract,
    "norm.Scalar": _norm,
    "convolution": _convolution,
    "max_pool2d": lambda *values: ("max_pool2d_with_indices.default", values, _first),
    "max_pool3d": lambda *values: ("max_pool3d_with_indices.default", values, _first),
}


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
