"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import (
    _standard_normal,
    lazy_property,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["MultivariateNormal"]


def _batch_mv(matrices: Tensor, vectors: Tensor) -> Tensor:
    return torch.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x for lower triangles L and vectors x of any batch shapes that broadcast."""
    size = x.size(-1)
    shape = torch.broadcast_shapes(factor.shape[:-2], x.shape[:-1])
    if factor.dim() == 2:  # many vectors for one matrix: solve them together
        solved = torch.linalg.solve_triangular(factor, x.reshape(-1, size).mT, upper=False)
        return solved.pow(2).sum(-2).reshape(x.shape[:-1])
    factor, x = factor.expand((*shape, size, size)), x.expand((*shape, size))
    return torch.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _log_diagonal(factor: Tensor) -> Tensor:
    """Half of log det (L L^T)."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse."""
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.flip(flipped, (-2, -1)).mT
    identity = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.linalg.solve_triangular(inverse, identity.expand(precision.shape), upper=False)


class MultivariateNormal(Distribution):
    """Vectors around `loc`, with one of `covariance_matrix`, `precision_matrix` and the factor `scale_tril`."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = ("loc", "covariance_matrix", "precision_matrix", "scale_tril")
    _kept = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        matrices = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(matrices) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = matrices
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(torch.Size(batch_shape), self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def _in_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return self._in_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self._in_batch(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._in_batch(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        square = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + square) - _log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (entropy + _log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
