"""Tensors without elements that PyTorch's compiler traces with: for `isinstance`, since none are made here."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeTensor(torch.Tensor):
    """There are none: tensors of the meta device have no elements, too."""


class FakeTensorMode:
    """A block that makes them: NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("FakeTensorMode is not supported: make tensors with device='meta'")


def is_fake(x: object) -> bool:
    """Whether a tensor is one of them: never."""
    return False


@contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """A block in which tensors have elements: they all do; it gives the mode that was active, None."""
    yield None
