"""`GradScaler`: scales a loss up, so that gradients in float16 do not vanish, and the gradients down again."""

from __future__ import annotations

import math
import warnings
from enum import Enum
from typing import Any

import torch

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far the step of an optimizer is."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _has_non_finite(grads: list[torch.Tensor]) -> torch.Tensor:
    """Whether an element of tensors of one device and dtype is inf or NaN: the largest size of each says it."""
    largest = [torch.linalg.vector_norm(grad, math.inf) for grad in grads if grad.numel() > 0]
    return torch.stack(largest).isfinite().all().logical_not() if largest else torch.tensor(False)


class GradScaler:
    """`scale(loss).backward()`, `step(optimizer)`, `update()`. A step whose gradients are not finite is left out.

    The scale then shrinks by `backoff_factor`; after `growth_interval` good steps it grows by `growth_factor`. Whether
    gradients are finite is found on their devices, which `step` waits for once. Without CUDA a scaler for "cuda" warns
    and does nothing, as in PyTorch.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale, self._growth_tracker = float(init_scale), 0
            self._scale: float | None = None
            self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
            self._growth_interval = growth_interval
            self._forget()

    def _forget(self) -> None:
        self._unscaled: set[int] = set()
        self._stepped: set[int] = set()
        self._found: dict[int, list[torch.Tensor]] = {}

    def scale(self, outputs: Any) -> Any:
        """The tensor, or the tensors of a container, times the scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = self._init_scale
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divides the optimizer's gradients by the scale, once between updates; notes whether all are finite."""
        if not self._enabled:
            return
        self._check_scale("unscale_")
        key = id(optimizer)
        if key in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if key in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        inverse = 1.0 / self._scale  # type: ignore[operator]
        groups: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
        with torch.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is None:
                        continue
                    if parameter.grad.dtype == torch.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if parameter.grad.is_sparse:
                        parameter.grad = parameter.grad.coalesce()
                    grad = parameter.grad._values() if parameter.grad.is_sparse else parameter.grad
                    groups.setdefault((grad.device, grad.dtype), []).append(grad)
            self._found[key] = [_has_non_finite(grads) for grads in groups.values()]
            for grads in groups.values():
                torch._foreach_mul_(grads, inverse)
        self._unscaled.add(key)

    def _has_found(self, key: int) -> bool:
        return any(bool(found) for found in self._found[key])

    def _check_scale(self, name: str) -> None:
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None: call scale(loss) first")

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()` on unscaled gradients, unless one is not finite. Closures are not supported."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        key = id(optimizer)
        if key in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if key not in self._unscaled:
            self.unscale_(optimizer)
        if not self._found[key]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stepped.add(key)
        return None if self._has_found(key) else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Changes the scale by what the last steps have found, or sets it."""
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not any(self._found.values()):
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(map(self._has_found, self._found)):
                self._scale *= self._backoff_factor  # type: ignore[operator]
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    self._scale *= self._growth_factor  # type: ignore[operator]
                    self._growth_tracker = 0
        self._forget()

    def get_scale(self) -> float:
        """The scale; 1 if it is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` takes; empty if it is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
