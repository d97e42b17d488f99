"""The CPU's instruction sets."""

from torch import _C


def get_cpu_capability() -> str:
    """The instruction set that the kernels use: "DEFAULT", "AVX2", "AVX512", ..."""
    return _C._cpu_capability()
