"""What `functorch` shows: the functions of `torch.func`, with a warning that names them."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import torch.func
from torch._functorch import make_functional as _modules

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., Any])


def _deprecated(function: Function, name: str, instead: str) -> Function:
    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"functorch.{name} is deprecated: use {instead}", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    warned.__module__ = __name__
    return warned  # type: ignore[return-value]


vmap = _deprecated(torch.func.vmap, "vmap", "torch.vmap")
grad = _deprecated(torch.func.grad, "grad", "torch.func.grad")
grad_and_value = _deprecated(torch.func.grad_and_value, "grad_and_value", "torch.func.grad_and_value")
vjp = _deprecated(torch.func.vjp, "vjp", "torch.func.vjp")
jvp = _deprecated(torch.func.jvp, "jvp", "torch.func.jvp")
jacrev = _deprecated(torch.func.jacrev, "jacrev", "torch.func.jacrev")
jacfwd = _deprecated(torch.func.jacfwd, "jacfwd", "torch.func.jacfwd")
hessian = _deprecated(torch.func.hessian, "hessian", "torch.func.hessian")
functionalize = _deprecated(torch.func.functionalize, "functionalize", "torch.func.functionalize")
make_functional = _deprecated(_modules.make_functional, "make_functional", "torch.func.functional_call")
make_functional_with_buffers = _deprecated(
    _modules.make_functional_with_buffers, "make_functional_with_buffers", "torch.func.functional_call"
)
combine_state_for_ensemble = _deprecated(
    _modules.combine_state_for_ensemble, "combine_state_for_ensemble", "torch.func.stack_module_state"
)
