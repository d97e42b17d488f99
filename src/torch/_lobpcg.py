"""`torch.lobpcg`: a few eigenvalues of large symmetric matrices, by products with the matrix alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._overridable import overridable


def _orthonormal(basis: Tensor, metric: Tensor | None) -> Tensor:
    """Columns that span the same and are orthonormal (with respect to `metric`), without those that add nothing."""
    columns = basis / basis.norm(dim=0, keepdim=True).clamp(min=torch.finfo(basis.dtype).tiny)
    for _ in range(2):  # once more takes away what rounding left
        image = columns if metric is None else metric.matmul(columns)
        values, vectors = torch.linalg.eigh(columns.mT.matmul(image))
        kept = values > values[-1] * 10 * torch.finfo(basis.dtype).eps
        columns = columns.matmul(vectors[:, kept] / values[kept].sqrt())
    return columns


def _search(
    matrix: Tensor,
    metric: Tensor | None,
    start: Tensor,
    inverse: Tensor | None,
    steps: int,
    tolerance: float,
    largest: bool,
) -> tuple[Tensor, Tensor]:
    """Eigenvalues and vectors of one matrix (Knyazev 2001): the best in the span of X, residuals and last step."""
    count = start.shape[1]
    basis = _orthonormal(start, metric)
    values, vectors = start.new_zeros(count), start
    last: Tensor | None = None
    scale = matrix.norm()
    for step in range(steps + 1):
        ritz, inner = torch.linalg.eigh(basis.mT.matmul(matrix.matmul(basis)))
        if largest:
            ritz, inner = ritz.flip(0), inner.flip(1)
        values, inner = ritz[:count], inner[:, :count]
        fresh = basis.matmul(inner)
        # The part of the step that does not lie along the old vectors leads on.
        last = (
            None
            if step == 0
            else fresh - vectors.matmul(vectors.mT.matmul(fresh if metric is None else metric.matmul(fresh)))
        )
        vectors = fresh
        image = vectors if metric is None else metric.matmul(vectors)
        residual = matrix.matmul(vectors) - image * values
        if bool((residual.norm(dim=0) <= tolerance * (scale + values.abs())).all()):
            break
        directions = residual if inverse is None else inverse.matmul(residual)
        basis = _orthonormal(
            torch.cat([vectors, directions] if last is None else [vectors, directions, last], 1), metric
        )
    return values, vectors


@overridable
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """`(E, X)`, the `k` largest eigenvalues (`largest=False`: smallest) of `A X = B X E`: (*, m), -> (*, k), (*, m, k).

    A is symmetric, B (default: the identity) positive definite. `X` (or `n` random vectors) is where the search begins,
    `iK` a preconditioner, near A's inverse; it ends after `niter` steps or when all residuals are at most `tol`.
    `method` ("basic", "ortho") and the `ortho` options name ways of PyTorch that are one here; `tracker` is not called.
    ValueError when the matrix is too small for its `k`: it must have at least 3 k rows.

    >>> torch.lobpcg(torch.diag(torch.arange(1.0, 13.0)), k=1, X=torch.ones(12, 1), niter=60)[0].round()
    tensor([12.])
    """
    size = A.shape[-1]
    if A.shape[-2] != size:
        raise ValueError(f"lobpcg: A must be square, not {tuple(A.shape)}")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: method must be 'basic' or 'ortho', not {method!r}")
    count = k if k is not None else (1 if X is None else X.shape[-1])
    vectors = n if n is not None else (count if X is None else X.shape[-1])
    if size < 3 * vectors:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={size})"
            f" is smaller than 3 x the number of requested eigenpairs (={vectors})"
        )
    tolerance = tol if tol is not None else torch.finfo(A.dtype).eps ** 0.5
    batch = A.shape[:-2]
    matrices = A.reshape(-1, size, size)
    metrics = [None] * len(matrices) if B is None else list(B.expand(A.shape).reshape(-1, size, size))
    inverses = [None] * len(matrices) if iK is None else list(iK.expand(A.shape).reshape(-1, size, size))
    starts = torch.randn(*batch, size, vectors, dtype=A.dtype, device=A.device) if X is None else X
    starts = starts.expand(*batch, size, vectors).reshape(-1, size, vectors)
    found = [
        _search(
            matrix,
            metric,
            start,
            inverse,
            1000 if niter is None or niter < 0 else niter,
            tolerance,
            largest is not False,
        )
        for matrix, metric, start, inverse in zip(matrices, metrics, starts, inverses, strict=True)
    ]
    values = torch.stack([pair[0][:count] for pair in found]).reshape(*batch, count)
    return values, torch.stack([pair[1][:, :count] for pair in found]).reshape(*batch, size, count)
