"""Where libraries find the base of context managers that are decorators, too."""

from torch.autograd.grad_mode import _Switch as _DecoratorContextManager

__all__ = ["_DecoratorContextManager"]
