"""Several modules, each with its own arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.nn.modules.module import Module

__all__ = ["parallel_apply"]


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Any = None,
) -> list[Any]:
    """What each module answers to its inputs (a tuple of arguments, or one); one after the other."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    named: Sequence[dict[str, Any]] = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    return [
        module(*(value if isinstance(value, (list, tuple)) else (value,)), **kwargs)
        for module, value, kwargs in zip(modules, inputs, named, strict=True)
    ]
