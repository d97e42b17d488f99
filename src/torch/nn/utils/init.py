"""Modules without first values."""

from __future__ import annotations

from typing import Any

from torch.nn.modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters are not drawn: they hold undefined numbers, to be loaded.

    The class must take `device`, and set up its parameters in `reset_parameters` or after their allocation.

    >>> torch.nn.utils.skip_init(torch.nn.Linear, 3, 2).weight.shape
    torch.Size([2, 3])
    """
    import inspect

    import torch

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    # What is drawn is given back, so that other numbers do not depend on it.
    with torch.random.fork_rng(devices=[]):
        module = module_cls(*args, **kwargs)
    return module.to(device)
