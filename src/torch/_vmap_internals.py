"""The old home of `vmap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch._functorch.vmap import vmap

if TYPE_CHECKING:
    from collections.abc import Callable


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """`torch.vmap` with random numbers of its own for each element; None may be returned."""
    return vmap(func, in_dims, out_dims, "different")
