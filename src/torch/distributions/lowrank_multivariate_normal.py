"""The multivariate normal distribution with a covariance of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _log_diagonal
from torch.distributions.utils import (
    _standard_normal,
    lazy_property,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of 1 + W^T D^-1 W."""
    product = torch.matmul(factor.mT / diagonal.unsqueeze(-2), factor)
    return torch.linalg.cholesky(product + torch.eye(factor.size(-1), dtype=factor.dtype, device=factor.device))


def _batch_lowrank_logdet(factor: Tensor, diagonal: Tensor, capacitance: Tensor) -> Tensor:
    """log det (W W^T + D)."""
    return 2 * _log_diagonal(capacitance) + diagonal.log().sum(-1)


def _batch_lowrank_mahalanobis(factor: Tensor, diagonal: Tensor, x: Tensor, capacitance: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x."""
    projected = _batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - _batch_mahalanobis(capacitance, projected)


class LowRankMultivariateNormal(Distribution):
    """Vectors around `loc` with covariance `cov_factor` @ its transpose + diag(`cov_diag`)."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = ("loc", "cov_factor", "cov_diag")
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch_shape, -1)), cov_diag.expand((*batch_shape, -1))
        self.cov_factor = cov_factor.expand((*batch_shape, -1, -1))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(torch.Size(batch_shape), event_shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def _in_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = torch.eye(self._event_shape[0], dtype=root.dtype, device=root.device)
        return self._in_batch(root * torch.linalg.cholesky(torch.matmul(scaled, scaled.mT) + identity))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._in_batch(torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance, by Woodbury's formula."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        solved = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._in_batch(torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - solved.mT @ solved)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        dtype, device = self.loc.dtype, self.loc.device
        low = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], dtype=dtype, device=device)
        own = _standard_normal(shape, dtype=dtype, device=device)
        moved = self.loc + _batch_mv(self._unbroadcasted_cov_factor, low)
        return moved + self._unbroadcasted_cov_diag.sqrt() * own

    def _logdet(self) -> Tensor:
        return _batch_lowrank_logdet(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        )

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        square = _batch_lowrank_mahalanobis(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, value - self.loc, self._capacitance_tril
        )
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._logdet() + square)

    def entropy(self) -> Tensor:
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._logdet())
        return entropy.expand(self._batch_shape)
