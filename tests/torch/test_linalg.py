"""torch.linalg where answers are not unique: what factors multiply to; and singular, empty, wrong and NaN inputs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from op_sample import check_gradient

import torch
from torch import linalg

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
SHAPES = ((0, 0), (1, 1), (3, 3), (5, 3), (3, 5), (40, 25), (2, 4, 4), (2, 3, 5, 2), (3, 0, 2), (0, 3, 3))
SQUARE = tuple(shape for shape in SHAPES if shape[-1] == shape[-2])


def _random(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=dtype)


def _close(actual: Any, expected: Any, factor: float = 1000.0) -> None:
    eps = torch.finfo(expected.dtype).eps
    torch.testing.assert_close(actual, expected, rtol=factor * eps, atol=factor * eps)


def _identity(size: int, like: Any) -> Any:
    return torch.eye(size, dtype=like.dtype).expand(*like.shape[:-2], size, size)


def _hermitian(shape: tuple[int, ...], dtype: Any) -> Any:
    a = _random(shape, dtype)
    return a + a.mH


def _definite(shape: tuple[int, ...], dtype: Any) -> Any:
    a = _random(shape, dtype)
    return a @ a.mH + shape[-1] * torch.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_multiply_to_the_matrix(shape: tuple[int, ...], dtype: Any) -> None:
    a = _random(shape, dtype)
    rows, columns = shape[-2:]
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        _close(q @ r, a)
        _close(q.mH @ q, _identity(q.shape[-1], q))
        assert torch.equal(r, r.triu())
    assert linalg.qr(a, "r").Q.numel() == 0
    p, lower, upper = linalg.lu(a)
    _close(p @ lower @ upper, a)
    assert torch.equal(lower, lower.tril())
    assert torch.equal(upper, upper.triu())
    for full in (True, False):
        u, s, vh = linalg.svd(a, full_matrices=full)
        rank = min(rows, columns)
        _close((u[..., :rank] * s.unsqueeze(-2)) @ vh[..., :rank, :], a)
        _close(u.mH @ u, _identity(u.shape[-1], u))
        _close(vh @ vh.mH, _identity(vh.shape[-2], vh))
        assert (s.diff(dim=-1) <= 0).all() if hasattr(s, "diff") else True
    _close(linalg.svdvals(a), linalg.svd(a).S)
    pseudo = linalg.pinv(a)
    assert pseudo.shape == (*shape[:-2], columns, rows)
    _close(a @ pseudo @ a, a)
    reflectors, tau = torch.geqrf(a)
    other = _random((*shape[:-2], rows, 2), dtype, 1)
    complete = linalg.qr(a, "complete").Q
    _close(torch.ormqr(reflectors, tau, other), complete @ other)
    _close(torch.ormqr(reflectors, tau, other, transpose=True), complete.mH @ other)
    _close(torch.ormqr(reflectors, tau, other.mH, left=False), other.mH @ complete)
    if rows >= columns:
        _close(linalg.householder_product(reflectors, tau), linalg.qr(a).Q)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_square_matrices(shape: tuple[int, ...], dtype: Any) -> None:
    a = _random(shape, dtype) + 3 * torch.eye(shape[-1], dtype=dtype)
    size = shape[-1]
    _close(linalg.inv(a) @ a, _identity(size, a))
    b = _random((*shape[:-1], 2), dtype, 1)
    _close(a @ linalg.solve(a, b), b)
    _close(linalg.solve(a, b.mH, left=False) @ a, b.mH)
    factors, pivots = linalg.lu_factor(a)
    for adjoint in (False, True):
        matrix = a.mH if adjoint else a
        _close(matrix @ linalg.lu_solve(factors, pivots, b, adjoint=adjoint), b)
        _close(linalg.lu_solve(factors, pivots, b.mH, left=False, adjoint=adjoint) @ matrix, b.mH)
    sign, logarithm = linalg.slogdet(a)
    _close(sign * logarithm.exp(), linalg.det(a), 1e5)
    values, vectors = linalg.eig(a)
    _close(a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2))
    _close(linalg.eigvals(a).abs().sort()[0], values.abs().sort()[0])
    h = _hermitian(shape, dtype)
    for uplo in "LU":
        values, vectors = linalg.eigh(h.tril() if uplo == "L" else h.triu(), uplo)
        _close(vectors @ (values.unsqueeze(-1) * vectors.mH), h)
        _close(linalg.eigvalsh(h, uplo), values)
    d = _definite(shape, dtype)
    for upper in (False, True):
        factor = linalg.cholesky(d, upper=upper)
        _close(factor.mH @ factor if upper else factor @ factor.mH, d)
        _close(d @ torch.cholesky_solve(b, factor, upper), b)
        other = factor + (torch.ones_like(factor).tril(-1) if upper else torch.ones_like(factor).triu(1))
        inverse = torch.cholesky_inverse(other, upper)  # the other triangle is not read
        _close(d @ inverse, _identity(size, d))
        assert torch.equal(inverse, inverse.mH)
    for hermitian in (False, True):
        symmetric = h if hermitian else a + a.mT
        factors, pivots = linalg.ldl_factor(symmetric, hermitian=hermitian)
        _close(symmetric @ linalg.ldl_solve(factors, pivots, b, hermitian=hermitian), b, 1e5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(driver: str, dtype: Any) -> None:
    for shape in ((5, 3), (3, 5), (2, 4, 4), (0, 3), (3, 0)):
        a, b = _random(shape, dtype), _random((*shape[:-1], 2), dtype, 1)
        solution, residuals, rank, values = linalg.lstsq(a, b, driver=driver)
        _close(solution, linalg.pinv(a) @ b, 1e4)
        if shape == (5, 3) and driver != "gelsy":
            _close(residuals, (a @ solution - b).abs().pow(2).sum(-2), 1e4)
        assert (rank.numel() > 0) == (driver != "gels")
        if driver in ("gelsd", "gelss") and 0 not in shape:
            _close(values, linalg.svdvals(a))


def test_matrix_exponential_of_any_norm() -> None:
    a = _random((4, 3, 3), torch.float64) * torch.tensor([1e-8, 0.1, 1.0, 3.0], dtype=torch.float64).view(4, 1, 1)
    _close(linalg.matrix_exp(a) @ linalg.matrix_exp(-a), _identity(3, a), 1e5)
    values, vectors = linalg.eig(a[3])
    through = (vectors * values.exp()) @ linalg.inv(vectors)
    _close(linalg.matrix_exp(a[3]), through.real, 1e4)
    assert linalg.matrix_exp(torch.full((2, 2), float("nan"))).isnan().all()


GRADIENTS: dict[str, Any] = {
    "cholesky": lambda a: linalg.cholesky(a @ a.mH + torch.eye(3)),
    "cholesky_upper": lambda a: linalg.cholesky(a @ a.mH + torch.eye(3), upper=True),
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": lambda a: linalg.slogdet(a)[1],
    "slogdet_sign": lambda a: linalg.slogdet(a)[0],
    "solve": lambda a: linalg.solve(a, a[:, :2] + 1),
    "solve_right": lambda a: linalg.solve(a, a[:2] + 1, left=False),
    "solve_vector": lambda a: linalg.solve(a, a[0] + 1),
    "lu": lambda a: linalg.lu(a)[1:],
    "lu_wide": lambda a: linalg.lu(a[:2])[1:],
    "lu_tall": lambda a: linalg.lu(a[:, :2])[1:],
    "lu_solve": lambda a: linalg.lu_solve(*linalg.lu_factor(a), a + 1, adjoint=True),
    "qr": linalg.qr,
    "qr_tall": lambda a: linalg.qr(a[:, :2]),
    "qr_wide": lambda a: linalg.qr(a[:2]),
    "eigvalsh": lambda a: linalg.eigvalsh(a + a.mH),
    "eigh": lambda a: linalg.eigh(a + a.mH)[1].abs(),
    "eig": lambda a: (linalg.eig(a)[0].abs(), linalg.eig(a)[1].abs()),
    "svdvals": linalg.svdvals,
    "svd": lambda a: [part.abs() for part in linalg.svd(a)],
    "svd_tall": lambda a: [part.abs() for part in linalg.svd(a[:, :2], full_matrices=False)],
    "svd_wide": lambda a: [part.abs() for part in linalg.svd(a[:2], full_matrices=False)],
    "pinv": linalg.pinv,
    "pinv_tall": lambda a: linalg.pinv(a[:, :2]),
    "lstsq": lambda a: linalg.lstsq(a[:, :2], a + 1)[0],
    "matrix_exp": linalg.matrix_exp,
    "matrix_power": lambda a: linalg.matrix_power(a, -2),
    "householder_product": lambda a: linalg.householder_product(a, a[0]),
    "ormqr": lambda a: torch.ormqr(a, a[0], a + 1, transpose=True),
    "ormqr_right": lambda a: torch.ormqr(a, a[0], a + 1, left=False),
    "solve_triangular": lambda a: linalg.solve_triangular(a, a + 1, upper=True),
    "solve_triangular_ones": lambda a: linalg.solve_triangular(a, a + 1, upper=False, left=False, unitriangular=True),
    "norms": lambda a: [linalg.norm(a, p) for p in ("fro", "nuc", 2, 1)],
    "cond": linalg.cond,
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, dtype: Any) -> None:
    check_gradient(GRADIENTS[name], _random((3, 3), dtype, 7) + torch.diag(torch.tensor([1.0, 2.5, 4.0], dtype=dtype)))


def test_gradient_of_a_singular_determinant() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    linalg.det(a).backward()
    assert a.grad is not None
    torch.testing.assert_close(a.grad, torch.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=torch.float64))


SINGULAR = torch.ones(2, 2)
NAN = torch.full((2, 2), float("nan"))
ERRORS: tuple[tuple[Any, type[Exception], str], ...] = (
    (lambda: linalg.inv(SINGULAR), linalg.LinAlgError, "The diagonal element 2 is zero"),
    (lambda: linalg.inv(torch.stack([torch.eye(2), SINGULAR])), linalg.LinAlgError, r"\(Batch element 1\)"),
    (lambda: linalg.solve(SINGULAR, torch.ones(2)), linalg.LinAlgError, "the input matrix is singular"),
    (lambda: linalg.cholesky(-torch.eye(2)), linalg.LinAlgError, "leading minor of order 1 is not positive-definite"),
    (lambda: linalg.svd(NAN), linalg.LinAlgError, "contained non-finite values"),
    (lambda: linalg.eigh(NAN), linalg.LinAlgError, "failed to converge"),
    (lambda: linalg.lstsq(NAN, torch.ones(2, 1)), linalg.LinAlgError, "non-finite values"),
    (lambda: linalg.eig(NAN), RuntimeError, "should not contain infs or NaNs"),
    (lambda: linalg.eigvals(NAN), RuntimeError, "should not contain infs or NaNs"),
    (lambda: linalg.inv(torch.ones(2, 3)), RuntimeError, "batches of square matrices, but they are 2 by 3 matrices"),
    (lambda: linalg.inv(torch.ones(2)), RuntimeError, "must have at least 2 dimensions"),
    (
        lambda: linalg.inv(torch.ones(2, 2, dtype=torch.int32)),
        RuntimeError,
        "floating point or complex tensor as input. Got Int",
    ),
    (lambda: linalg.inv(torch.ones(2, 2).half()), RuntimeError, "Low precision dtypes not supported. Got Half"),
    (lambda: linalg.solve(torch.eye(2), torch.ones(2).double()), RuntimeError, "to have the same dtype"),
    (lambda: linalg.solve(torch.eye(2), torch.ones(3, 1)), RuntimeError, "Incompatible shapes"),
    (lambda: linalg.qr(torch.eye(2), "some"), RuntimeError, "unrecognized mode 'some'"),
    (lambda: linalg.eigh(torch.eye(2), "X"), RuntimeError, "Expected UPLO argument"),
    (lambda: linalg.norm(torch.ones(2, 2, 2), 2), RuntimeError, "must be 1D or 2D"),
    (lambda: linalg.multi_dot([torch.ones(2, 2)]), RuntimeError, "at least 2 tensors"),
)


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert type(caught.value) is error


def test_pivots_that_are_none_are_refused() -> None:
    """LAPACK would write outside of the matrix."""
    factors = torch.eye(3)
    for wrong in ([0, 1, 2], [4, 2, 3], [-1, 2, 3], [2**31 - 1, 1, 1]):
        pivots = torch.tensor(wrong, dtype=torch.int32)
        with pytest.raises(RuntimeError, match="pivots"):
            linalg.lu_solve(factors, pivots, torch.ones(3, 1))
        with pytest.raises(RuntimeError, match="pivots"):
            torch.lu_unpack(factors, pivots)
    for wrong in ([0, 1, 2], [4, 2, 3], [-1, -2, 3], [1, 2, -3], [-(2**31), -(2**31), 1]):
        with pytest.raises(RuntimeError, match="pivots"):
            linalg.ldl_solve(factors, torch.tensor(wrong, dtype=torch.int32), torch.ones(3, 1))


def test_only_one_triangle_is_read() -> None:
    a = _definite((4, 4), torch.float64)
    for uplo, part in (("L", a.tril()), ("U", a.triu())):
        half = torch.where(part == 0, float("nan"), part)
        _close(linalg.eigvalsh(half, uplo), linalg.eigvalsh(a))
        _close(linalg.cholesky(half, upper=uplo == "U"), linalg.cholesky(a, upper=uplo == "U"))


def test_codes_in_place_of_errors() -> None:
    stack = torch.stack([torch.eye(2), SINGULAR])
    assert linalg.inv_ex(stack).info.tolist() == [0, 2]
    assert linalg.solve_ex(stack, torch.ones(2, 2)).info.tolist() == [0, 2]
    assert linalg.lu_factor_ex(stack).info.tolist() == [0, 2]
    assert linalg.cholesky_ex(stack - 2 * torch.eye(2)).info.tolist() == [1, 1]
    with pytest.raises(linalg.LinAlgError):
        linalg.inv_ex(stack, check_errors=True)


def test_names_of_results() -> None:
    assert isinstance(linalg.svd(torch.eye(2)), torch.return_types.linalg_svd)
    assert linalg.eigh(torch.eye(2)).eigenvalues.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["eigh", "svd", "qr", "lu", "lu_factor", "slogdet", "inv_ex", "cholesky_ex"])
def test_results_in_given_tensors(name: str) -> None:
    a = _definite((3, 3), torch.float64)
    expected = getattr(linalg, name)(a)
    out = tuple(torch.empty(0, dtype=result.dtype) for result in expected)
    returned = getattr(linalg, name)(a, out=out)
    assert all(one is other for one, other in zip(returned, out, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(out, expected, strict=True))


@pytest.mark.parametrize("name", ["addmv", "addr", "baddbmm", "addbmm"])
def test_in_place(name: str) -> None:
    shapes = {"addmv": ((3,), (3, 4), (4,)), "addr": ((3, 4), (3,), (4,))}
    first, *others = (
        _random(shape, torch.float32, seed)
        for seed, shape in enumerate(shapes.get(name, ((2, 3, 5), (2, 3, 4), (2, 4, 5))))
    )
    target = first[0] if name == "addbmm" else first
    expected = getattr(torch, name)(target, *others, beta=0.5, alpha=2)
    assert getattr(target, f"{name}_")(*others, beta=0.5, alpha=2) is target
    assert torch.equal(target, expected)


def test_lowrank_approximations() -> None:
    torch.manual_seed(0)
    a = torch.randn(30, 3) @ torch.randn(3, 20)
    for matrix in (a, a.mT):
        u, s, v = torch.svd_lowrank(matrix, q=4)
        _close((u * s) @ v.mT, matrix, 1e4)
    u, s, v = torch.pca_lowrank(a, q=3)
    _close((u * s) @ v.mT, a - a.mean(0), 1e4)


def test_lobpcg_finds_the_ends_of_the_spectrum() -> None:
    torch.manual_seed(0)
    a = torch.randn(2, 20, 20, dtype=torch.float64)
    a = a @ a.mT
    b = torch.diag(torch.linspace(1.0, 2.0, 20, dtype=torch.float64))
    values = linalg.eigvalsh(a)
    found, vectors = torch.lobpcg(a, k=3, niter=200)
    _close(found, values[:, -3:].flip(-1), 1e9)
    _close(a @ vectors, vectors * found.unsqueeze(-2), 1e12)
    _close(torch.lobpcg(a, k=2, largest=False, niter=300)[0], values[:, :2], 1e10)
    root = linalg.inv(b.sqrt())
    _close(torch.lobpcg(a, k=2, B=b, niter=200)[0], linalg.eigvalsh(root @ a @ root)[:, -2:].flip(-1), 1e9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("transposed_left", "transposed_right"), list(itertools.product((False, True), repeat=2)))
def test_products_of_every_layout(dtype: torch.dtype, transposed_left: bool, transposed_right: bool) -> None:
    """Rows, columns and depths around the tiles, panels and chunks that products are made of."""
    for rows, columns, depth in itertools.product((2, 13, 100), (8, 9, 16, 31, 33, 2100), (1, 17, 300)):
        left, right = _random((rows, depth), dtype), _random((depth, columns), dtype, seed=1)
        expected = sum((left[:, [i]].double() * right[[i]].double() for i in range(depth)), torch.zeros(()))
        left = left.t().contiguous().t() if transposed_left else left
        right = right.t().contiguous().t() if transposed_right else right
        error = depth**0.5 * (1e-5 if dtype == torch.float32 else 1e-13)
        torch.testing.assert_close((left @ right).double(), expected, rtol=0, atol=error)
        added = torch.addmm(expected.to(dtype), left, right, beta=0.5, alpha=2)
        torch.testing.assert_close(added.double(), 2.5 * expected, rtol=1e-6, atol=5 * error)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.uint8])
@pytest.mark.parametrize(("transposed_left", "transposed_right"), list(itertools.product((False, True), repeat=2)))
def test_products_of_stacks(dtype: torch.dtype, transposed_left: bool, transposed_right: bool) -> None:
    """Tiny ones and small ones, around the panels' columns."""
    for rows, columns, depth in itertools.product((1, 2, 4, 9), (1, 3, 4, 8, 16, 33, 50), (1, 4, 17)):
        left = torch.randint(0, 7, (5, rows, depth)).to(dtype)
        right = torch.randint(0, 7, (5, depth, columns)).to(dtype)
        expected = (left.long()[..., None] * right.long()[:, None]).sum(2)
        left = left.mT.contiguous().mT if transposed_left else left
        right = right.mT.contiguous().mT if transposed_right else right
        assert torch.equal(left @ right, expected.to(dtype))
        assert torch.equal(torch.bmm(left[::2], right[::2]), expected[::2].to(dtype))


@pytest.mark.parametrize("transposed", [False, True])
def test_vectors_times_matrices_of_float16(transposed: bool) -> None:
    """Sums are float32's, rounded once, whatever lies in a row: around vectors, with beta and alpha."""
    for rows, depth in itertools.product((1, 3, 16, 37, 130), (0, 1, 5, 16, 67, 300)):
        matrix, vector = _random((rows, depth), torch.float16), _random((depth, 1), torch.float16, seed=1)
        expected = matrix.float() @ vector.float()
        matrix = matrix.t().contiguous().t() if transposed else matrix
        error = {"rtol": 2**-10, "atol": depth**0.5 * 1e-3}
        for spread in (vector, vector.repeat(1, 3)[:, :1]):
            torch.testing.assert_close((matrix @ spread).float(), expected, **error)
            torch.testing.assert_close((spread.t() @ matrix.t()).float(), expected.t(), **error)
            added = torch.addmm(expected.half(), matrix, spread, beta=0.5, alpha=2)
            torch.testing.assert_close(added.float(), 2.5 * expected, rtol=2**-9, atol=depth**0.5 * 3e-3)
    infinite = torch.tensor([[torch.inf, 1.0]], dtype=torch.float16)
    assert torch.isnan(infinite @ torch.tensor([[0.0], [1.0]], dtype=torch.float16)).all()


@pytest.mark.parametrize(("transposed_left", "transposed_right"), list(itertools.product((False, True), repeat=2)))
def test_products_of_bfloat16(transposed_left: bool, transposed_right: bool) -> None:
    """Sums are float32's, rounded once: odd depths, vectors, panels that are not full, beta and alpha, batches."""
    for rows, columns, depth in itertools.product((1, 2, 13, 100), (1, 4, 9, 16, 33, 100), (1, 17, 64, 300)):
        left, right = _random((rows, depth), torch.bfloat16), _random((depth, columns), torch.bfloat16, seed=1)
        expected = left.float() @ right.float()
        left = left.t().contiguous().t() if transposed_left else left
        right = right.t().contiguous().t() if transposed_right else right
        error = {"rtol": 2**-8, "atol": depth**0.5 * 1e-3}
        torch.testing.assert_close((left @ right).float(), expected, **error)
        addend = _random((rows, columns), torch.bfloat16, seed=2)
        added = torch.addmm(addend, left, right, beta=0.5, alpha=2)
        torch.testing.assert_close(added.float(), 0.5 * addend.float() + 2 * expected, **error)
        both = torch.bmm(torch.stack([left, -left]), torch.stack([right, right]))
        torch.testing.assert_close(both.float(), torch.stack([expected, -expected]), **error)
    assert torch.isnan(
        torch.full((2, 3), torch.nan, dtype=torch.bfloat16) @ torch.zeros(3, 20, dtype=torch.bfloat16)
    ).all()
    assert torch.equal(
        torch.zeros(2, 0, dtype=torch.bfloat16) @ torch.zeros(0, 3, dtype=torch.bfloat16),
        torch.zeros(2, 3, dtype=torch.bfloat16),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.int64])
@pytest.mark.parametrize("rows", [0, 1, 64, 65])
def test_a_bias_is_added_to_each_row(dtype: torch.dtype, rows: int) -> None:
    wide = torch.complex128 if dtype.is_complex else torch.float64
    x, weight = torch.arange(rows * 3).reshape(rows, 3) % 7, torch.arange(12).reshape(3, 4) % 5
    x, weight, whole = x.to(dtype), weight.to(dtype), torch.arange(8).reshape(4, 2).to(dtype)
    for bias in (whole[:, 1], whole[:, 1].contiguous(), whole[0, :1], whole[:, 1].expand(1, 4)):
        result = torch.addmm(bias, x, weight, beta=2, alpha=3)
        assert result.dtype == dtype
        assert torch.equal(result.to(wide), 2 * bias.to(wide) + 3 * (x.to(wide) @ weight.to(wide)))
    with pytest.raises(RuntimeError, match=r"must match the existing size \(3\)"):
        torch.addmm(torch.ones(3, dtype=dtype), torch.ones(2, 3, dtype=dtype), weight)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("sizes", [(3, 5, 70), (17, 300, 33), (8, 256, 32), (9, 1, 16), (1, 40, 50), (12, 31, 3)])
def test_products_of_integers_wrap(dtype: torch.dtype, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    limits = torch.iinfo(dtype)
    torch.manual_seed(0)
    a = torch.randint(limits.min, limits.max, (m, k), dtype=dtype)
    b = torch.randint(limits.min, limits.max, (k, n), dtype=dtype)
    expected = (a[:, :, None] * b).sum(1, dtype=dtype)
    assert torch.equal(a @ b, expected)
    assert torch.equal(a.t().contiguous().t() @ b.t().contiguous().t(), expected)
    added = torch.randint(limits.min, limits.max, (m, n), dtype=dtype)
    assert torch.equal(torch.addmm(added, a, b, beta=3, alpha=5), 3 * added + 5 * expected)


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 70])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_many_sides_of_a_triangular_system(columns: int, upper: bool, unitriangular: bool) -> None:
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        a = 0.1 * _random((2, 33, 33), dtype) + torch.eye(33, dtype=dtype)
        b = _random((2, 33, columns), dtype)
        x = linalg.solve_triangular(a, b, upper=upper, unitriangular=unitriangular)
        triangle = a.triu() if upper else a.tril()
        if unitriangular:
            triangle.diagonal(0, -2, -1).fill_(1)
        torch.testing.assert_close(triangle @ x, b, rtol=tolerance, atol=tolerance)
        transposed = linalg.solve_triangular(a.mT, b.mT, upper=not upper, left=False, unitriangular=unitriangular)
        torch.testing.assert_close(transposed, x.mT, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "shapes", [((5, 6), (7, 3)), ((9, 2, 8), (6, 4)), ((30,), (40,)), ((4, 1), (1, 4)), ((0, 3), (2, 2))]
)
def test_kronecker_products(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (_random(shape, torch.float64).requires_grad_() for shape in shapes)
    result = torch.kron(a, b)
    rank = max(a.dim(), b.dim())
    one, two = (x.reshape((1,) * (rank - x.dim()) + x.shape) for x in (a, b))
    for dim in range(rank):
        one, two = one.unsqueeze(2 * dim + 1), two.unsqueeze(2 * dim)
    expected = (one * two).reshape(result.shape)
    assert torch.equal(result, expected)
    weights = torch.randn_like(result)
    slopes = [torch.autograd.grad((x * weights).sum(), (a, b), retain_graph=True) for x in (result, expected)]
    torch.testing.assert_close(*slopes)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.complex64])
def test_an_outer_product_is_added(dtype: torch.dtype) -> None:
    column, row, matrix = ((8 * torch.rand(*shape)).to(dtype) for shape in ((5,), (37,), (5, 37)))
    for beta, alpha in ((1, 1), (2, 3), (0, 2)):
        for addend in (matrix, matrix[:1], matrix[0], matrix[:, :1], matrix.t().contiguous().t()):
            expected = beta * addend + alpha * column[:, None] * row
            torch.testing.assert_close(torch.addr(addend, column, row, beta=beta, alpha=alpha), expected)
    assert torch.addr(torch.full((5, 37), float("nan")), torch.ones(5), torch.ones(37), beta=0).eq(1).all()
    x, y, z = (torch.rand(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 3), (2,), (3,)))
    assert torch.autograd.gradcheck(lambda *args: torch.addr(*args, beta=2, alpha=3), (x, y, z))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.complex64, torch.bfloat16])
def test_products_of_matrices_whose_rows_or_columns_are_one(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    row, matrix, bias = ((torch.randn(*shape) * 4).to(dtype) for shape in ((1, 6), (6, 5), (5,)))
    rows = row.expand(7, 6)
    assert torch.equal(rows @ matrix, (row @ matrix).expand(7, 5))
    assert torch.equal(torch.addmm(bias, rows, matrix, beta=2, alpha=3),
                       torch.addmm(bias, row, matrix, beta=2, alpha=3).expand(7, 5))  # fmt: skip
    columns = matrix[:, :1].expand(6, 9)
    assert torch.equal(rows @ columns, (row @ matrix[:, :1]).expand(7, 9))
    assert (rows @ matrix).is_contiguous()
    assert (matrix.mT @ columns).is_contiguous()
