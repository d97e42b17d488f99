"""Helpers around torch: `torch.utils.data`, `torch.utils.cpp_extension`, `torch.utils.hooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C, _bindings

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["set_module", "swap_tensors"]

__getattr__ = _bindings.submodules(__name__)


def set_module(obj: Any, mod: str) -> None:
    """Says that a function or class is of module `mod`, as documentation shows it."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges two tensors: class, attributes, data and gradients. What refers to one is then what the other was.

    RuntimeError if either is kept by a graph, or weakly referred to.
    """
    import weakref

    for which, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {which} because it has weakref associated with it")
    answers = any(_C._class_dispatches(type(tensor)) for tensor in (t1, t2))
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for key in {*t1.__dict__, *t2.__dict__}:
        first, second = (tensor.__dict__.pop(key, _ABSENT) for tensor in (t1, t2))
        for tensor, value in ((t1, second), (t2, first)):
            if value is not _ABSENT:
                tensor.__dict__[key] = value
    if answers:  # one of them may have no data to exchange
        _C._swap_tensor_impl(t1, t2)
        return
    first_grad, second_grad = t1.grad, t2.grad
    t1.grad = t2.grad = None
    first_requires, second_requires = t1.requires_grad, t2.requires_grad
    first_data, second_data = t1.detach(), t2.detach()
    t1.requires_grad_(False).data, t2.requires_grad_(False).data = second_data, first_data
    t1.requires_grad_(second_requires)
    t2.requires_grad_(first_requires)
    t1.grad, t2.grad = second_grad, first_grad


_ABSENT: Any = object()
