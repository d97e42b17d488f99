"""Approximations of large matrices by a few singular values, found from products with random vectors."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._overridable import overridable


def _range_basis(matrix: Tensor, size: int, iterations: int, shift: Tensor | None) -> Tensor:
    """An orthonormal basis of what `matrix - shift` makes of random vectors, after powers of it have sharpened it."""

    def apply(vectors: Tensor) -> Tensor:
        product = matrix.matmul(vectors)
        return product if shift is None else product - shift.matmul(vectors)

    def apply_adjoint(vectors: Tensor) -> Tensor:
        product = matrix.mH.matmul(vectors)
        return product if shift is None else product - shift.mH.matmul(vectors)

    random = torch.randn(matrix.shape[-1], size, dtype=matrix.dtype, device=matrix.device)
    basis = torch.linalg.qr(apply(random)).Q
    for _ in range(iterations):
        basis = torch.linalg.qr(apply_adjoint(basis)).Q
        basis = torch.linalg.qr(apply(basis)).Q
    return basis


@overridable
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`(U, S, V)` with `q` columns such that `U diag(S) V^H` is near `A - M`: (..., m, n).

    The method of Halko, Martinsson and Tropp (2009): a random range, sharpened by `niter` iterations.

    >>> U, S, V = torch.svd_lowrank(torch.ones(5, 4), q=2)
    >>> S[0]
    tensor(4.4721)
    """
    size = 6 if q is None else q
    iterations = 2 if niter is None else niter
    rows, columns = A.shape[-2:]
    shift = None if M is None else M.broadcast_to(A.shape)
    if rows < columns:  # the thin side is the one whose range is looked for
        left, values, right = svd_lowrank(A.mH, size, iterations, None if shift is None else shift.mH)
        return right, values, left
    basis = _range_basis(A, size, iterations, shift)
    small = basis.mH.matmul(A)
    if shift is not None:
        small = small - basis.mH.matmul(shift)
    left, values, adjoint = torch.linalg.svd(small, full_matrices=False)
    return basis.matmul(left), values, adjoint.mH


@overridable
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """`(U, S, V)`, the `q` first principal components of the rows of `A` (..., m, n); q: min(6, m, n) by default.

    `center`: columns are freed of their mean first. ValueError if `q` or `niter` is out of range.
    """
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
