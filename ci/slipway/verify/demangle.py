"""C++ names as people write them, by the C++ runtime's own function; mangled names stay where there is none."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.cache
def _demangler() -> Callable[[bytes], str | None] | None:
    try:
        runtime, system = ctypes.CDLL("libstdc++.so.6"), ctypes.CDLL(None)
        function = runtime.__cxa_demangle
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    system.free.argtypes = [ctypes.c_void_p]

    def demangle(name: bytes) -> str | None:
        status = ctypes.c_int()
        address = function(name, None, None, ctypes.byref(status))
        if not address:
            return None
        try:
            return ctypes.string_at(address).decode("utf-8", "replace")
        finally:
            system.free(address)

    return demangle


def demangled(name: str) -> str:
    """``_ZN2at3addE`` -> ``at::add``; any other name as it is."""
    function = _demangler() if name.startswith("_Z") else None
    return (function(name.encode()) if function else None) or name
