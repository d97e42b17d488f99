"""Sizes of blocks for PyTorch's Triton kernels of block-sparse matrices, which are not here."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError("torch.sparse._triton_ops_meta: there are no kernels of block-sparse matrices here")


get_meta = minimize = update = _refuse
