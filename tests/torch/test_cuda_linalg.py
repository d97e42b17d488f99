"""Factorisations on a CUDA device: what they are made of gives the matrices back, whatever library has computed them.

Signs and phases of vectors are the library's own; so no numbers are compared with the CPU's where they are not unique.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
# Tall, square, wide; one, several, beyond what is done in one launch, none.
SHAPES = ((5, 3), (4, 4), (3, 6), (2, 3, 5, 3), (3, 4, 4), (2, 3, 6), (2, 40, 7), (0, 3, 3), (3, 0), (0, 4))


def _matrices(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator).cuda()


def _hermitian(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    matrices = _matrices(shape, dtype)
    return matrices + matrices.mH


def _assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.is_cuda
    scale = 1e-4 if expected.dtype in (torch.float32, torch.complex64) else 1e-10
    torch.testing.assert_close(actual.cpu(), expected.cpu(), rtol=scale, atol=scale)


def _assert_unitary(columns: torch.Tensor) -> None:
    identity = torch.eye(columns.shape[-1], dtype=columns.dtype)
    _assert_same(columns.mH @ columns, identity.expand(*columns.shape[:-2], -1, -1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", [None, "gesvd", "gesvdj", "gesvda"])
def test_svd(driver: str | None, dtype: torch.dtype) -> None:
    for shape, full in itertools.product(SHAPES, (False, True)):
        matrices = _matrices(shape, dtype)
        u, s, vh = torch.linalg.svd(matrices, full_matrices=full, driver=driver)
        expected = torch.linalg.svd(matrices.cpu(), full_matrices=full)
        assert [part.shape for part in (u, s, vh)] == [part.shape for part in expected]
        assert [part.stride() for part in (u, s, vh)] == [part.stride() for part in expected]
        rank = s.shape[-1]
        _assert_same((u[..., :rank] * s.unsqueeze(-2)) @ vh[..., :rank, :], matrices)
        _assert_unitary(u)
        _assert_unitary(vh.mH)
        _assert_same(s, expected.S)
        _assert_same(torch.linalg.svdvals(matrices, driver=driver), expected.S)


def test_drivers_are_named_as_in_pytorch() -> None:
    with pytest.raises(RuntimeError, match="unknown svd driver other in svd_cusolver computation"):
        torch.linalg.svd(torch.ones(2, 2, device="cuda"), driver="other")
    with pytest.raises(RuntimeError, match="`driver` other than `gels` is not supported on CUDA"):
        torch.linalg.lstsq(torch.ones(2, 2, device="cuda"), torch.ones(2, 1, device="cuda"), driver="gelsy")


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh(dtype: torch.dtype) -> None:
    for shape in ((4, 4), (3, 4, 4), (2, 1, 40, 40), (0, 3, 3)):
        matrices = _hermitian(shape, dtype)
        for triangle in "LU":
            values, vectors = torch.linalg.eigh(matrices, UPLO=triangle)
            _assert_same(vectors * values.unsqueeze(-2), matrices @ vectors)
            _assert_unitary(vectors)
            _assert_same(values, torch.linalg.eigvalsh(matrices.cpu()))
            _assert_same(torch.linalg.eigvalsh(matrices, UPLO=triangle), values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype: torch.dtype) -> None:
    for shape in ((1, 1), (5, 5), (3, 6, 6), (0, 3, 3)):
        matrices = _matrices(shape, dtype)
        values, vectors = torch.linalg.eig(matrices)
        _assert_same(vectors * values.unsqueeze(-2), matrices.to(vectors.dtype) @ vectors)
        _assert_same(torch.linalg.vector_norm(vectors, dim=-2), torch.ones(values.shape, dtype=values.real.dtype))
        _assert_same(torch.linalg.eigvals(matrices), values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_and_reflectors(dtype: torch.dtype) -> None:
    for shape, mode in itertools.product(SHAPES, ("reduced", "complete")):
        matrices = _matrices(shape, dtype)
        q, r = torch.linalg.qr(matrices, mode=mode)
        _assert_same(q @ r, matrices)
        _assert_unitary(q)
    reflectors, tau = torch.geqrf(_matrices((2, 5, 3), dtype))
    whole = _matrices((2, 5, 5), dtype)
    product = torch.linalg.householder_product(torch.cat([reflectors, torch.zeros_like(whole[..., :2])], -1), tau)
    for left, transpose in itertools.product((True, False), (True, False)):
        factor = product.mH if transpose else product
        actual = torch.ormqr(reflectors, tau, whole, left=left, transpose=transpose)
        _assert_same(actual, factor @ whole if left else whole @ factor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype: torch.dtype) -> None:
    for shape in ((4, 4), (3, 4, 4), (0, 3, 3)):
        root = _matrices(shape, dtype)
        matrices = root @ root.mH + torch.eye(shape[-1], dtype=dtype, device="cuda")
        for upper in (False, True):
            factor = torch.linalg.cholesky(matrices, upper=upper)
            _assert_same(factor.mH @ factor if upper else factor @ factor.mH, matrices)
            _assert_same(factor, factor.triu() if upper else factor.tril())
            identity = torch.eye(shape[-1], dtype=dtype).expand(shape)
            _assert_same(matrices @ torch.cholesky_inverse(factor, upper=upper), identity)
            right = _matrices((*shape[:-1], 2), dtype)
            _assert_same(matrices @ torch.cholesky_solve(right, factor, upper=upper), right)
    broken = torch.eye(3, dtype=dtype, device="cuda").repeat(2, 1, 1)
    broken[1, 2, 2] = -1
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*leading minor of order 3"):
        torch.linalg.cholesky(broken)
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 3"):
        torch.linalg.cholesky(broken[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(dtype: torch.dtype) -> None:
    for shape in SHAPES:
        matrices = _matrices(shape, dtype)
        permutation, lower, upper = torch.linalg.lu(matrices)
        _assert_same(permutation @ lower @ upper, matrices)
        # Rows are exchanged by what the library takes for the greatest, which is not the same for complex numbers.
        factors, pivots = torch.linalg.lu_factor(matrices)
        permutation, lower, upper = torch.lu_unpack(factors, pivots)
        _assert_same(permutation @ lower @ upper, matrices)
        assert lower.numel() == 0 or lower.abs().max() < 1.5
    singular = torch.linalg.lu_factor_ex(torch.zeros(3, 2, dtype=dtype, device="cuda"))
    assert singular.info.item() == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_ldl(dtype: torch.dtype) -> None:
    for shape in ((5, 5), (3, 4, 4)):
        half = _matrices(shape, dtype)
        matrices = half + half.mT
        factors, pivots, info = torch.linalg.ldl_factor_ex(matrices)
        assert info.eq(0).all()
        right = _matrices((*shape[:-1], 2), dtype)
        _assert_same(matrices @ torch.linalg.ldl_solve(factors, pivots, right), right)
        with pytest.raises(RuntimeError, match="pivots must be those that"):
            torch.linalg.ldl_solve(factors, pivots * 0 + 99, right)
    if dtype.is_complex:
        with pytest.raises(RuntimeError, match="hermitian=True flag are not supported on CUDA"):
            torch.linalg.ldl_factor(matrices, hermitian=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lstsq(dtype: torch.dtype) -> None:
    for shape, batch in (((6, 3), ()), ((3, 3), ()), ((3, 6), ()), ((2, 6, 3), (2,)), ((2, 3, 5), (2,))):
        matrices = _matrices(shape, dtype)
        right = _matrices((*batch, shape[-2], 2), dtype)
        expected = torch.linalg.lstsq(matrices.cpu(), right.cpu(), driver="gels")
        actual = torch.linalg.lstsq(matrices, right)
        _assert_same(actual.solution, expected.solution)
        _assert_same(actual.residuals, expected.residuals)
        assert actual.rank.numel() == actual.singular_values.numel() == 0
    with pytest.raises(torch.linalg.LinAlgError, match="does not have full rank"):
        torch.linalg.lstsq(torch.zeros(3, 2, dtype=dtype, device="cuda"), torch.ones(3, 1, dtype=dtype, device="cuda"))


@pytest.mark.parametrize("function", ["svd", "eigh", "eig"])
def test_what_is_not_finite_is_refused(function: str) -> None:
    matrices = torch.full((2, 3, 3), float("nan"), device="cuda")
    with pytest.raises(RuntimeError, match=r"linalg\."):
        getattr(torch.linalg, function)(matrices)


@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.svdvals,
        torch.linalg.eigvalsh,
        lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(3, device=a.device, dtype=a.dtype)),
        lambda a: torch.linalg.qr(a).R.abs(),
        lambda a: torch.linalg.lstsq(a, a[..., :1]).solution,
        torch.linalg.pinv,
    ],
)
def test_gradients_are_the_cpus(function: Any) -> None:
    values = _hermitian((2, 3, 3), torch.float64).cpu()
    gradients = []
    for device in ("cpu", "cuda"):
        leaf = values.detach().clone().to(device).requires_grad_()
        weights = torch.arange(1.0, 4.0, dtype=torch.float64).to(device)
        result = function(leaf)
        (result.flatten(1)[:, :1] * weights[0] + result.flatten(1).sum()).sum().backward()
        gradients.append(leaf.grad)
    _assert_same(gradients[1], gradients[0])


def test_on_a_stream_and_a_second_device() -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        matrices = _hermitian((2, 4, 4), torch.float64)
        values, vectors = torch.linalg.eigh(matrices)
        _assert_same(vectors * values.unsqueeze(-2), matrices @ vectors)
    if torch.cuda.device_count() > 1:
        moved = matrices.to("cuda:1")
        q, r = torch.linalg.qr(moved)
        assert q.device == moved.device
        _assert_same(q @ r, matrices)


@pytest.fixture(params=["cusolver", "magma"])
def library(request: pytest.FixtureRequest) -> Iterator[str]:
    prefer = torch.backends.cuda.preferred_linalg_library
    if request.param == "magma" and not torch.cuda.has_magma:
        pytest.skip("the plug-in is built without MAGMA")
    prefer(request.param)
    yield request.param
    prefer("default")


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_routine_of_a_library(library: str, dtype: torch.dtype) -> None:
    test_svd(None, dtype)
    test_eigh(dtype)
    test_eig(dtype)
    test_qr_and_reflectors(dtype)
    test_cholesky(dtype)
    test_lu(dtype)
    test_lstsq(dtype)
    test_ldl(dtype)  # cuSOLVER's either way, as MAGMA has it not


@pytest.mark.parametrize("function", ["svd", "eigh", "eig"])
def test_a_library_waits_for_what_was_queued(library: str, function: str) -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        matrices = torch.zeros(6, 6, dtype=torch.float64, device="cuda")
        matrices += torch.arange(1.0, 7.0, dtype=torch.float64).cuda().diag()
        values = {
            "svd": lambda: torch.linalg.svdvals(matrices).flip(0),
            "eigh": lambda: torch.linalg.eigvalsh(matrices),
            "eig": lambda: torch.linalg.eigvals(matrices).real.sort().values,
        }[function]()
        _assert_same(values * 2, torch.arange(1.0, 7.0, dtype=torch.float64) * 2)


def test_large_matrices_have_the_same_eigenvalues_by_default() -> None:
    matrices = _matrices((130, 130), torch.float64)
    values, vectors = torch.linalg.eig(matrices)
    _assert_same(vectors * values, matrices.to(vectors.dtype) @ vectors)


def test_the_library_can_be_asked_for() -> None:
    prefer = torch.backends.cuda.preferred_linalg_library
    assert prefer().name == "Default"
    for name in ("cusolver", *(["magma"] if torch.cuda.has_magma else [])):
        assert prefer(name).name == name.capitalize()
        assert prefer(prefer()).name == name.capitalize()
    assert prefer("default").name == "Default"
    if not torch.cuda.has_magma:
        with pytest.raises(RuntimeError, match="not been compiled with MAGMA"):
            prefer("magma")
    with pytest.raises(RuntimeError, match="Choose from: default, cusolver, magma"):
        prefer("lapack")
    with pytest.raises(RuntimeError, match="Unknown input value type"):
        prefer(torch.backends.cuda.preferred_blas_library())


def test_magma_is_loaded_when_it_is_first_used() -> None:
    if not torch.cuda.has_magma:
        pytest.skip("the plug-in is built without MAGMA")
    program = """
import torch
def is_loaded():
    return "libtorch_cuda_magma" in open("/proc/self/maps").read()
torch.linalg.eigvals(torch.ones(2, 2, device="cuda"))
torch.backends.cuda.preferred_linalg_library("magma")
assert not is_loaded()
torch.linalg.eigvals(torch.ones(2, 2, device="cuda"))
assert is_loaded()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
