"""A device around a function."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import torch

    Function = TypeVar("Function", bound=Callable[..., Any])


def device_decorator(device: torch.device, func: Function) -> Function:
    """`func` with `device` as the default one while it runs: what `@torch.device(...)` gives."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with device:
            return func(*args, **kwargs)

    return call  # type: ignore[return-value]
