"""Functions of functions: derivatives, batching, and modules as functions of their parameters.

Everything is built on `torch.autograd`, so results are differentiable again and may be nested. `vmap` calls a function
once, with tensors that look like one element and are the whole batch (`torch/_functorch/_levels.py`); `jacrev` and
`jacfwd` are batches of products. `jvp` and `jacfwd` are forward mode.
"""

from torch._functorch.vmap import vmap
from torch.func._modules import debug_unwrap, functional_call, replace_all_batch_norm_modules_, stack_module_state
from torch.func._rearrange import rearrange
from torch.func._transforms import (
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
