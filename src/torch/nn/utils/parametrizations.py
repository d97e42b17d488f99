"""Parametrizations: weight and spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional.normalization import normalize
from torch.nn.modules.module import Module
from torch.nn.utils import parametrize
from torch.nn.utils.weight_norm import norm_except

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    dim: int

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """g * v / |v|."""
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Length and direction."""
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """`module` with its parameter `name` as a length, `original0`, and a direction, `original1`.

    `dim`: the dimension that has a length for each element; None: one for all. State dicts of the older
    `torch.nn.utils.weight_norm` load, too.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([2, 1])
    """
    norm = _WeightNorm(dim)
    parametrize.register_parametrization(module, name, norm, unsafe=True)

    def read_older(state_dict: dict[str, Any], prefix: str, *unused: Any) -> None:
        for number, suffix in enumerate(("_g", "_v")):
            key = f"{prefix}{name}{suffix}"
            if key in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(read_older)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        dims = weight.dim()
        if dim >= dims or dim < -dims:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{dims}, {dims - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + dims
        self.eps = eps
        if dims > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, columns = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        with torch.no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight over its largest singular value; in training the estimate is improved first."""
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: its largest singular value may differ from 1."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """`module` with its parameter `name` divided by its largest singular value whenever it is read.

    The value is estimated by power iterations, `n_power_iterations` at every reading in training. `dim`: the dimension
    of the weight's outputs; 1 for transposed convolutions and 0 for others where it is not given.

    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    >>> sorted(layer.state_dict())[1:3]
    ['parametrizations.weight.0._u', 'parametrizations.weight.0._v']
    """
    from torch.nn.modules.conv import _ConvTransposeNd

    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    """Orthogonal matrices by one of three maps; with a base, the map of what is learnt times the base."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The matrix with orthonormal rows or columns, whichever are fewer."""
        rows, columns = X.shape[-2:]
        transposed = rows < columns
        if transposed:
            X, rows, columns = X.mT, columns, rows
        if self.orthogonal_map == "householder":
            tau = 2.0 / (1.0 + (X.tril(-1) * X.tril(-1)).sum(dim=-2))
            result = torch.linalg.householder_product(X.tril(-1), tau)
            result = result * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            skew = X.tril()
            if columns != rows:
                skew = torch.cat([skew, skew.new_zeros(*skew.shape[:-2], rows, rows - columns)], dim=-1)
            skew = skew - skew.mH
            if self.orthogonal_map == "matrix_exp":
                result = torch.matrix_exp(skew)
            else:
                identity = torch.eye(rows, dtype=skew.dtype, device=skew.device)
                result = torch.linalg.solve(identity - 0.5 * skew, identity + 0.5 * skew)
            result = result[..., :columns]
        if getattr(self, "base", None) is not None:
            result = self.base @ result  # type: ignore[operator]
        return result.mT if transposed else result

    @torch.no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """What is learnt, so that the matrix is `Q` made orthogonal."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        original = Q
        transposed = Q.size(-2) < Q.size(-1)
        if transposed:
            Q = Q.mT
        rows, columns = Q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map in ("cayley", "matrix_exp"):
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            # A product of reflections gives an upper triangular factor with signs; they are kept on the diagonal.
            reflections, _ = torch.geqrf(Q)
            reflections.diagonal(dim1=-2, dim2=-1).sign_()
            reflections.diagonal(dim1=-2, dim2=-1)[reflections.diagonal(dim1=-2, dim2=-1) == 0.0] *= -1
            return reflections.mT if transposed else reflections
        if rows == columns:
            self.base = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            random = torch.randn(*Q.shape[:-2], rows, rows - columns, dtype=Q.dtype, device=Q.device)
            self.base = _make_orthogonal(torch.cat([Q, random], dim=-1))
        start = torch.zeros_like(original)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _is_orthogonal(matrix: Tensor) -> bool:
    size = matrix.size(-1)
    eye = torch.eye(size, dtype=matrix.dtype, device=matrix.device)
    return torch.allclose(matrix.mH @ matrix, eye, atol=10.0 * size * torch.finfo(matrix.dtype).eps)


def _make_orthogonal(matrix: Tensor) -> Tensor:
    """The factor Q of a matrix whose factor R has a diagonal that is not negative."""
    reflections, tau = torch.geqrf(matrix)
    factor: Tensor = torch.linalg.householder_product(reflections, tau)
    return factor * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """`module` with its parameter `name`, a matrix or several, kept orthogonal (unitary if complex).

    A matrix that is not square has orthonormal rows or columns, whichever are fewer. `orthogonal_map` is "matrix_exp",
    "cayley" or "householder"; the first for square and complex matrices and the last for others where it is not given.
    `use_trivialization` learns a factor of the matrix that it begins with.

    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3))
    >>> torch.dist(layer.weight.T @ layer.weight, torch.eye(3)) < 1e-5
    tensor(True)
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    map_of = _Orthogonal(weight, orthogonal_map, use_trivialization)
    parametrize.register_parametrization(module, name, map_of, unsafe=True)
    return module
