"""`autocast`: operators in a smaller dtype, where they may.

Inside a block for a type of device matrix products, convolutions and attention of its tensors compute in fewer bits
("cpu": bfloat16, "cuda": float16, if nothing else is said), losses and what needs precision in float32, and some
operators of several tensors in the widest of their dtypes; all others take what they get. The lists, which differ
between the two, are in csrc/utils/autocast_lists.cpp. Parameters are converted once per outermost block. On a machine
without CUDA a block for "cuda" warns and changes nothing, as in PyTorch.
"""

from __future__ import annotations

import collections
import functools
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DEVICES = ("cpu", "cuda")
_SUPPORTED = (torch.bfloat16, torch.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is an autocast for a type of device: "cpu" and "cuda"."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    torch.device(device_type)
    return device_type in _DEVICES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """`torch.is_autocast_enabled`: whether operators of a device compute in a smaller dtype here."""
    return device_type in _DEVICES and _C._is_autocast_enabled(device_type)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """`torch.set_autocast_enabled`: sets it from here on; for devices that are not here it has no effect.

    `set_autocast_enabled(enabled)` is of "cuda".
    """
    if isinstance(device_type, bool):
        device_type, enabled = "cuda", device_type
    if device_type in _DEVICES:
        _C._set_autocast_enabled(device_type, bool(enabled))


def get_autocast_dtype(device_type: str) -> torch.dtype:
    """`torch.get_autocast_dtype`: the smaller dtype of a device."""
    if not is_autocast_available(device_type):
        raise RuntimeError(f"unsupported device type for autocast get_autocast_dtype: {device_type}")
    return _C._get_autocast_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: torch.dtype) -> None:
    """`torch.set_autocast_dtype`: sets it."""
    if not is_autocast_available(device_type):
        raise RuntimeError(f"unsupported device type for autocast set_autocast_dtype: {device_type}")
    _C._set_autocast_dtype(device_type, dtype)


def is_autocast_cpu_enabled() -> bool:
    """`torch.is_autocast_cpu_enabled`: the same as `is_autocast_enabled("cpu")`."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> torch.dtype:
    """`torch.get_autocast_cpu_dtype`: the same as `get_autocast_dtype("cpu")`."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> torch.dtype:
    """`torch.get_autocast_gpu_dtype`: the same as `get_autocast_dtype("cuda")`."""
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """`torch.is_autocast_cache_enabled`: whether converted parameters are kept until the outermost block ends."""
    return _C._is_autocast_cache_enabled()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """`torch.set_autocast_cache_enabled`: sets it."""
    _C._set_autocast_cache_enabled(enabled)


def clear_autocast_cache() -> None:
    """`torch.clear_autocast_cache`: forgets converted parameters."""
    _C._clear_autocast_cache()


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`torch.set_autocast_cpu_enabled`: the same as `set_autocast_enabled("cpu", enabled)`."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: torch.dtype) -> None:
    """`torch.set_autocast_cpu_dtype`: the same as `set_autocast_dtype("cpu", dtype)`."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: torch.dtype) -> None:
    """`torch.set_autocast_gpu_dtype`: the same as `set_autocast_dtype("cuda", dtype)`."""
    set_autocast_dtype("cuda", dtype)


# Kinds of devices that PyTorch was once built for, of which only the settings are kept.
_OLD_DEVICES: dict[str, list[Any]] = {"ipu": [False, torch.float16], "xla": [False, torch.bfloat16]}


def _old_setting(device: str, place: int) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def get() -> Any:
        """What was set for a kind of device that is not here."""
        return _OLD_DEVICES[device][place]

    def put(value: Any) -> None:
        """Sets it, for a kind of device that is not here."""
        _OLD_DEVICES[device][place] = value

    return get, put


is_autocast_ipu_enabled, set_autocast_ipu_enabled = _old_setting("ipu", 0)
get_autocast_ipu_dtype, set_autocast_ipu_dtype = _old_setting("ipu", 1)
is_autocast_xla_enabled, set_autocast_xla_enabled = _old_setting("xla", 0)
get_autocast_xla_dtype, set_autocast_xla_dtype = _old_setting("xla", 1)


def autocast_increment_nesting() -> int:
    """`torch.autocast_increment_nesting`: enters a block as `autocast` does; returns how many this thread is in."""
    return _C._autocast_increment_nesting()


def autocast_decrement_nesting() -> int:
    """`torch.autocast_decrement_nesting`: leaves a block; after the outermost, clear the cache."""
    return _C._autocast_decrement_nesting()


class autocast:
    """A block (or, as a decorator, function) in which operators that may compute in `dtype` do.

    `dtype` is bfloat16 (the CPU's default) or float16 (CUDA's); `cache_enabled=False` converts parameters each time
    they are used. With `enabled=False` operators compute in what they get, also inside another block. RuntimeError for
    devices that have no autocast.

    >>> x = torch.ones(2, 2)
    >>> with torch.autocast("cpu"):
    ...     print((x @ x).dtype, (x + x).dtype)
    torch.bfloat16 torch.float32
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
        self.device, self.fast_dtype = device_type, get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and device_type == "cuda" and not torch.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype not in _SUPPORTED:
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[tuple[bool, torch.dtype, bool]] = []

    def __enter__(self) -> autocast:
        self._before.append(
            (_C._is_autocast_enabled(self.device), _C._get_autocast_dtype(self.device), _C._is_autocast_cache_enabled())
        )
        _C._set_autocast_enabled(self.device, self._enabled)
        if self._enabled:
            _C._set_autocast_dtype(self.device, self.fast_dtype)
        _C._autocast_increment_nesting()
        _C._set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exception: object) -> None:
        if _C._autocast_decrement_nesting() == 0:
            _C._clear_autocast_cache()
        enabled, dtype, cache_enabled = self._before.pop()
        _C._set_autocast_enabled(self.device, enabled)
        _C._set_autocast_dtype(self.device, dtype)
        _C._set_autocast_cache_enabled(cache_enabled)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def _cast(value: Any, device_type: str, dtype: torch.dtype) -> Any:
    """The floating tensors of a device among nested values, but those of float64, in another dtype."""
    if isinstance(value, torch.Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype is not torch.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {_cast(key, device_type, dtype): _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(item, device_type, dtype) for item in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: torch.dtype | None = None
) -> Callable[..., Any]:
    """Decorates the forward of a `Function` that stands in autocast blocks.

    With `cast_inputs` its floating tensors are converted, and autocast is off inside it; without, it runs as it is, and
    its backward (decorated by `custom_bwd`) with the same state of autocast.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        context = args[0]
        context._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None:
            context._fwd_used_autocast = enabled
            return fwd(*args, **kwargs)
        context._fwd_used_autocast = False
        if not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorates the backward of such a `Function`: it runs with the state of autocast that its forward had."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated
