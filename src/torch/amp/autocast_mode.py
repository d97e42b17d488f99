"""`autocast`: operators in a smaller dtype, where they may.

On a machine without CUDA a block for "cuda" warns and changes nothing, as in PyTorch. A block for "cpu" that is enabled
would change what operators compute in; the core cannot do that yet, and says so.
"""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DTYPES = {"cpu": torch.bfloat16, "cuda": torch.float16}
_SUPPORTED = {"cpu": (torch.bfloat16, torch.float16), "cuda": (torch.bfloat16, torch.float16)}


def is_autocast_available(device_type: str) -> bool:
    """Whether there is an autocast for a type of device: "cpu" and "cuda"."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    torch.device(device_type)
    return device_type in _DTYPES


class autocast:
    """A block (or, as a decorator, function) in which operators that may compute in `dtype` do.

    With `enabled=False` nothing changes. RuntimeError for devices that have no autocast.
    """

    def __init__(
        self,
        device_type: str,
        dtype: torch.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device, self.fast_dtype = device_type, _DTYPES[device_type] if dtype is None else dtype
        if enabled and device_type == "cuda" and not torch.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype not in _SUPPORTED[device_type]:
            if self.fast_dtype is torch.float32 and device_type == "cpu":
                warnings.warn(
                    "In CPU autocast, but the target dtype is not supported. Disabling autocast.", stacklevel=2
                )
            else:
                warnings.warn(f"In autocast, but the target dtype {self.fast_dtype} is not supported.", stacklevel=2)
            enabled = False
        self._enabled, self._cache_enabled = enabled, True if cache_enabled is None else cache_enabled

    def __enter__(self) -> autocast:
        if self._enabled:
            raise NotImplementedError(
                f"autocast({self.device!r}, {self.fast_dtype}) is not supported yet: pass enabled=False, "
                f"or convert the model, model.to({self.fast_dtype})"
            )
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: torch.dtype | None = None
) -> Callable[..., Any]:
    """Decorates the forward of a `Function` that stands in autocast blocks: outside of them it runs as it is."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return (lambda function: function) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorates the backward of such a `Function`."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return (lambda function: function) if bwd is None else bwd
