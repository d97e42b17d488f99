"""Modules as functions of their parameters, and their states stacked."""

from torch.func._modules import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
