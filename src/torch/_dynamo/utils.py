"""What libraries ask of PyTorch's compiler."""

from __future__ import annotations

import functools
import warnings
from collections import Counter, defaultdict

# What the compiler has done, by its parts: nothing.
counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


@functools.cache
def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warns, the first time that the message is given."""
    warnings.warn(msg, stacklevel=stacklevel + 1)


def is_compile_supported(device_type: str) -> bool:
    """Whether code for a type of device can be compiled: no, it runs eagerly."""
    return False
