"""Functions of torch by name: under which one translations list them, and which are recorded in a way of their own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# What Python may ask of a tensor that is known only when the graph runs.
VALUES = frozenset({
    "__bool__", "__int__", "__float__", "__index__", "__complex__", "__contains__", "item", "tolist", "numpy",
    "__array__", "is_nonzero", "equal", "allclose", "_is_all_true", "data_ptr", "__dlpack__",
})  # fmt: skip
# In-place functions that change how a tensor is looked at, not its elements.
RESHAPING = frozenset(
    ["squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "detach_", "as_strided_"]
)
INERT = frozenset(
    ["requires_grad_", "retain_grad", "register_hook", "share_memory_", "__repr__", "__str__", "__format__", "__hash__"]
)
RANDOM_WRITES = frozenset(["uniform_", "normal_", "random_", "exponential_", "cauchy_", "geometric_", "log_normal_"])
# Modules whose functions are Python around the ones that have rows, and those of them that have rows themselves.
BY_PARTS = ("torch.nn.functional", "torch.functional")
WHOLE = frozenset(["einsum", "tensordot", "cdist"])
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


def name_of(function: Any) -> str:
    """The name of a function of torch as translations are listed under; all overloads of an operator have one."""
    function = getattr(function, "overloadpacket", function)
    name = str(getattr(function, "__name__", type(function).__name__))
    if name in ("__get__", "__set__"):
        name = f"{function.__self__.__name__}{'' if name == '__get__' else '.set'}"
    if getattr(function, "__module__", None) == "torch._C._linalg" or name.startswith("linalg_"):
        return f"linalg_{name.removeprefix('linalg_')}"
    name = _OPERATORS.get(name, name.removeprefix("special_"))
    return name.removesuffix("_copy") if name in _COPIES else name


# Operands that may be given by name, in the order of their places.
_SECOND = ("other", "mat2", "vec", "vec2", "imag", "input2", "chunks", "split_size", "split_size_or_sections",
           "split_sizes", "sections", "indices_or_sections")  # fmt: skip
_ORDERS = {
    "addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "addr": ("vec1", "vec2"), "addbmm": ("batch1", "batch2"),
    "baddbmm": ("batch1", "batch2"), "addcmul": ("tensor1", "tensor2"), "addcdiv": ("tensor1", "tensor2"),
    "dot": ("tensor",), "vdot": ("other",), "reshape": ("shape",), "where": ("condition", "input", "self", "other"),
    "linalg_vecdot": ("y",), "complex": ("real", "imag"), "polar": ("abs", "angle"),
}  # fmt: skip


def in_order(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments with operands by place, however they were given."""
    rest = dict(kwargs)
    order = _ORDERS.get(name, _SECOND)
    for key in order if name == "where" else ("input", "self", *order):
        if key in rest and (args or order is not _SECOND or key in ("input", "self")):
            args = (*args, rest.pop(key))
    return args, rest


def is_data_sized(row: Any, name: str, args: tuple[Any, ...]) -> bool:
    """Whether the sizes of a call's results depend on values: those of picks by a mask do."""
    if name != "getitem":
        return bool(row and row.data_sized) or (name == "where" and len(args) == 1)
    masks = args[1] if isinstance(args[1], tuple) else (args[1],)
    return any(isinstance(each, Tensor) and each.dtype in (torch.bool, torch.uint8) for each in masks)
