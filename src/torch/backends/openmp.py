"""OpenMP threads."""

from torch import _C


def is_available() -> bool:
    """Whether this torch was built with OpenMP."""
    return _C._has_openmp
