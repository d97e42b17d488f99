"""Which libraries this torch computes with: `mkl`, `openmp`, `cuda`, `cpu`; and switches that programs set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch import _bindings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.backends import (
        cpu as cpu,
        cuda as cuda,
        cudnn as cudnn,
        mha as mha,
        mkl as mkl,
        mkldnn as mkldnn,
        mps as mps,
        openmp as openmp,
        opt_einsum as opt_einsum,
    )

fp32_precision = "none"  # kept for programs that set it; float32 is computed as float32 here

__getattr__ = _bindings.submodules(__name__)


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """A block in which switches may be set one by one: they always may."""
    yield
