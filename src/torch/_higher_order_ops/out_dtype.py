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
