"""Anomaly mode: a backward pass that meets nan raises RuntimeError."""

from __future__ import annotations

import traceback
import warnings

from torch import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Anomaly mode, set at once or for a block: a backward in which a node gives nan raises RuntimeError.

    A warning then shows where in the forward pass the operation was called. `check_nan=False` looks for no nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _anomaly[0]
        _set_anomaly((mode, check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _set_anomaly(self._before)


class detect_anomaly:
    """A block in anomaly mode."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = _anomaly[0]
        _set_anomaly((True, self.check_nan))

    def __exit__(self, *exception: object) -> None:
        _set_anomaly(self._before)


_anomaly: list[tuple[bool, bool]] = [(False, True)]


def _set_anomaly(state: tuple[bool, bool]) -> None:
    _anomaly[0] = state
    _C._set_anomaly_mode(*state)


def _origin() -> str:
    """Where the program is, for the node that is being made."""
    return "".join(traceback.format_stack()[:-1])


def is_anomaly_enabled() -> bool:
    """`torch.is_anomaly_enabled`: whether anomaly mode is on."""
    return _anomaly[0][0]


def is_anomaly_check_nan_enabled() -> bool:
    """`torch.is_anomaly_check_nan_enabled`: whether it looks for nan."""
    return _anomaly[0][1]


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """`torch.set_anomaly_enabled`: sets it from here on."""
    _set_anomaly((mode, check_nan))
