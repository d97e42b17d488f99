"""`vmap` and the gradients of `torch.func`."""

from torch._functorch.vmap import _check_randomness_arg, _process_batched_inputs, vmap, vmap_impl
from torch.func._transforms import grad, grad_and_value

__all__ = ["_check_randomness_arg", "_process_batched_inputs", "grad", "grad_and_value", "vmap", "vmap_impl"]
