"""Functions of NVIDIA's driver, for what the runtime's interface does not tell or do."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def load_library(name: str, package: str, purpose: str) -> ctypes.CDLL:
    """A library by its name; RuntimeError says what needs it, and what to install."""
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise RuntimeError(f"{purpose} needs {name}, which could not be loaded: {error}\nInstall {package}.") from None


class Driver:
    """The driver's own interface."""

    def __init__(self) -> None:
        self._library = load_library("libcuda.so.1", "NVIDIA's driver", "torch.cuda")

    def call(self, name: str, *arguments: Any) -> None:
        """Raises RuntimeError with the driver's words."""
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"CUDA error: {(text.value or b'unknown error').decode()} ({name})")


driver = cache(Driver)
