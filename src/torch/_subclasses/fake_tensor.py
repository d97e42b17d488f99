"""Tensors without elements that PyTorch's compiler traces with: for `isinstance`, since none are made here."""

from __future__ import annotations

from typing import Any, NoReturn

import torch


class FakeTensor(torch.Tensor):
    """There are none: tensors of the meta device have no elements, too."""


class FakeTensorMode:
    """A block that makes them: NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("FakeTensorMode is not supported: make tensors with device='meta'")


def is_fake(x: object) -> bool:
    """Whether a tensor is one of them: never."""
    return False
