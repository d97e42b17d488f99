"""Matrices of which two of four neighbours are zero: a format of NVIDIA's tensor cores, which is not here."""

from __future__ import annotations

from typing import Any, NoReturn

import torch

__all__ = [
    "SparseSemiStructuredTensor",
    "SparseSemiStructuredTensorCUSPARSELT",
    "SparseSemiStructuredTensorCUTLASS",
    "to_sparse_semi_structured",
]


class SparseSemiStructuredTensor(torch.Tensor):
    """Such a matrix. None can be made: NotImplementedError."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.sparse.{cls.__name__}: semi-structured sparse matrices are not supported")


class SparseSemiStructuredTensorCUTLASS(SparseSemiStructuredTensor):
    """In the form of CUTLASS."""


class SparseSemiStructuredTensorCUSPARSELT(SparseSemiStructuredTensor):
    """In the form of cuSPARSELt."""


def to_sparse_semi_structured(original_tensor: torch.Tensor, transposed: bool = False) -> SparseSemiStructuredTensor:
    """Raises NotImplementedError."""
    return SparseSemiStructuredTensor(original_tensor)
