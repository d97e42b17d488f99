"""`torch.__config__`: how this torch was built."""

from __future__ import annotations

from torch import _C

has_lapack = has_spectral = True  # every build has LAPACK's functions and Fourier transforms
has_mkl, has_openmp = _C._has_mkl, _C._has_openmp
has_cuda = has_cudnn = has_mkldnn = has_mps = False  # asked of a build by old programs; CUDA is a plug-in


def show() -> str:
    """Compiler, BLAS, OpenMP and instruction sets, one per line."""
    return _C._show_config()


def parallel_info() -> str:
    """Threads and the libraries that provide them."""
    return _C._parallel_info()
