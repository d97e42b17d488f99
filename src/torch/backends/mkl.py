"""MKL as BLAS."""

from torch import _C


def is_available() -> bool:
    """Whether this torch was built with MKL."""
    return _C._has_mkl
