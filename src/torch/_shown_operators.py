"""What `__torch_dispatch__` is shown of operators that are other ones in PyTorch.

A row of native_functions.yaml is shown under its own name and with its own arguments, but for those of `RENAMED`
(another name) and `SHOWN` (other arguments).
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
