"""The Wishart distribution: random positive definite matrices."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import constraints
from torch.distributions.chi2 import Chi2
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.multivariate_normal import _log_diagonal, _precision_to_scale_tril
from torch.distributions.utils import (
    lazy_property,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """x x^T of `df` normal vectors x, with one of `covariance_matrix`, `precision_matrix` and `scale_tril`."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("df", "covariance_matrix", "precision_matrix", "scale_tril", "_dist_chi2")
    _kept = ("_unbroadcasted_scale_tril",)

    @property
    def arg_constraints(self) -> Any:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        matrices = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(matrices) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = matrices
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device).expand(batch_shape)
        else:
            batch_shape = torch.Size(torch.broadcast_shapes(matrix.shape[:-2], df.shape))
            self.df = df.expand(batch_shape)
        size = matrix.shape[-1]
        if bool((self.df <= size - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if bool((self.df < size).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        rows = torch.arange(size, dtype=matrix.dtype, device=matrix.device)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - rows.expand((*batch_shape, -1)))

    def _in_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance of x."""
        return self._in_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of x."""
        return self._in_batch(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance of x."""
        return self._in_batch(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (covariance.pow(2) + products)

    def _bartlett_sampling(self, sample_shape: Any = ()) -> Tensor:
        size = self._event_shape[-1]
        lengths = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = torch.diag_embed(lengths.clamp(min=torch.finfo(lengths.dtype).eps))
        below = torch.ones(size, size, dtype=torch.bool, device=noise.device).tril(-1)
        shape = (*sample_shape, *self._batch_shape, size * (size - 1) // 2)
        noise[..., below] = torch.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        # PyTorch draws what lies within the support once more (its first test of singularity is inverted): so here.
        tries = 10 if max_try_correction is None else max_try_correction
        sample = self._bartlett_sampling(sample_shape)
        again = self._any_of_batch(self.support.check(sample))
        if bool(again.any()):
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(tries):
                fresh = self._bartlett_sampling(again[again].shape)
                sample[again] = fresh
                still = self._any_of_batch(~self.support.check(fresh))
                again[again.clone()] = still
                if not bool(again.any()):
                    break
        return sample

    def _any_of_batch(self, singular: Tensor) -> Tensor:
        dims = [-(dim + 1) for dim in range(len(self._batch_shape))]
        return singular.amax(dims) if dims else singular

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        size, factor = self._event_shape[-1], self._unbroadcasted_scale_tril
        normalizer = self.df * (size * math.log(2) / 2 + _log_diagonal(factor)) + torch.mvlgamma(self.df / 2, p=size)
        weight = (self.df - size - 1) / 2 * torch.linalg.slogdet(value).logabsdet
        trace = torch.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return -normalizer + weight - trace / 2

    def entropy(self) -> Tensor:
        size, half = self._event_shape[-1], self.df / 2
        steps = torch.arange(size, dtype=half.dtype, device=half.device).div(2)
        digamma = torch.digamma(half.unsqueeze(-1) - steps.expand((*half.shape, -1))).sum(-1)
        scale = (size + 1) * (size * math.log(2) / 2 + _log_diagonal(self._unbroadcasted_scale_tril))
        inner = (self.df - size - 1) / 2 * digamma
        return scale + torch.mvlgamma(half, p=size) - inner + self.df * size / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        size = self._event_shape[-1]
        power = y + (size + 1) / 2
        logdet = torch.linalg.slogdet(-2 * x).logabsdet
        return power * (-logdet + math.log(2) * size) + torch.mvlgamma(power, p=size)
