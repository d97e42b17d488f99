"""Which libraries this torch computes with: `mkl`, `openmp`, `cuda`, `cpu`; and switches that programs set."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from torch import _bindings, _switches

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

    fp32_precision: str


class _Backends(ModuleType):
    """`fp32_precision`: how CUDA devices multiply float32 where nothing nearer says: "ieee", "tf32" or "none"."""

    @property
    def fp32_precision(self) -> str:
        return _switches.fp32_precision("generic")

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _switches.set_fp32_precision("generic", value)


sys.modules[__name__].__class__ = _Backends

__getattr__ = _bindings.submodules(__name__)


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """A block in which switches may be set one by one: they always may."""
    yield
