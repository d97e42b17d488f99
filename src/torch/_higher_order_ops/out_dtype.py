"""`out_dtype`: an operator, computed and answered in a wider type than its arguments have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["out_dtype"]


def out_dtype(op: Callable[..., Any], output_dtype: torch.dtype, *args: Any) -> Any:
    """`op` of the arguments, whose tensors are converted to `output_dtype` first: int8 by int8 summed up in int32.

    >>> from torch._higher_order_ops.out_dtype import out_dtype
    >>> x = torch.full((1, 2), 100, dtype=torch.int8)
    >>> out_dtype(torch.ops.aten.mm.default, torch.int32, x, x.t())
    tensor([[20000]], dtype=torch.int32)
    """
    return op(*(value.to(output_dtype) if isinstance(value, torch.Tensor) else value for value in args))


def _int_mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """The product of two matrices of int8 (the first may be of uint8), summed up in int32."""
    if self.dtype not in (torch.int8, torch.uint8) or mat2.dtype != torch.int8:
        raise RuntimeError(f"_int_mm: expected matrices of int8, but got {self.dtype} and {mat2.dtype}")
    return out_dtype(torch.mm, torch.int32, self, mat2)  # type: ignore[no-any-return]
