"""The CUDA plug-in."""

from torch import _C


def is_built() -> bool:
    """Whether the plug-in is installed; says nothing about a device (see torch.cuda.is_available)."""
    return _C._cuda_version() is not None
