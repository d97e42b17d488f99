"""Sparse tensors, where a golden answer says too little: refused operators, files, invariants, wrong indices."""

from __future__ import annotations

import copy
import io
import itertools
from typing import Any

import pytest
import torch_golden

import torch


def _coo() -> torch.Tensor:
    return torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, -3.0], (2, 2))


SPARSE = {
    "coo": _coo,
    "csr": lambda: _coo().to_sparse_csr(),
    "csc": lambda: _coo().to_sparse_csc(),
    "hybrid": lambda: torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 2), (2, 2)),
    "none": lambda: torch.sparse_coo_tensor((2, 2)),
    # What PyTorch lets pass unless it is told to check.
    "wrong": lambda: torch.sparse_coo_tensor([[0, 7], [-5, 1]], [1.0, 2.0], (2, 2)),
    "wrong csr": lambda: torch.sparse_csr_tensor([0, 9, 2], [0, 7], [1.0, 2.0], (2, 2)),
}
ERRORS = (RuntimeError, TypeError, ValueError, IndexError, BufferError, AssertionError, AttributeError)
# They change the process, or ask for something else than tensors.
SKIPPED = {"seed", "manual_seed", "set_num_threads", "from_file"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", SPARSE)
def test_every_operator_takes_sparse_tensors_or_says_that_it_does_not(kind: str) -> None:
    """None may look for their memory. The functions are called with one in every place of a few calls."""
    strided = torch.ones(2, 2)
    refused = taken = 0
    for home in (torch._C._VariableFunctions, torch._C._nn, torch._C._linalg, torch._C._fft, torch._C.TensorBase):
        for name in dir(home):
            function = getattr(home, name)
            if name.startswith("__") or name in SKIPPED or not callable(function):
                continue
            sparse = SPARSE[kind]()
            for arguments in _calls(sparse, strided):
                try:
                    repr(function(*arguments))
                    taken += 1
                except ERRORS:
                    refused += 1
    assert taken > 100
    assert refused > 1000


def _calls(sparse: torch.Tensor, strided: torch.Tensor) -> list[tuple[Any, ...]]:
    index = torch.tensor([0])
    calls = [(sparse,), (sparse, 0), (sparse, 0, index), (strided, 0, index, sparse), ([sparse, strided],)]
    for count in (2, 3):  # places: the sparse tensor stands in those that are set
        for places in itertools.product((False, True), repeat=count):
            calls.append(tuple(sparse if is_sparse else strided for is_sparse in places))
    return calls


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "hybrid", "none"])
def test_files(kind: str) -> None:
    tensor = SPARSE[kind]()
    file = io.BytesIO()
    torch.save({"x": tensor}, file)
    file.seek(0)
    assert repr(torch.load(file)["x"]) == repr(tensor)
    assert repr(copy.deepcopy(tensor)) == repr(tensor)
    grown = torch.nn.Parameter(tensor)
    assert repr(copy.deepcopy(grown).detach()) == repr(tensor)


@pytest.mark.parametrize("kind", ["wrong", "wrong csr"])
def test_a_file_with_wrong_indices_is_refused(kind: str) -> None:
    file = io.BytesIO()
    torch.save(SPARSE[kind](), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"index|indices"):
        torch.load(file)


def test_files_of_pytorch() -> None:
    answers = torch.load(torch_golden.GOLDEN / "sparse.pt")
    for kind, text in answers["texts"].items():
        assert repr(answers["tensors"][kind]) == text


def test_invariants() -> None:
    checks = torch.sparse.check_sparse_tensor_invariants
    wrong = SPARSE["wrong"]
    with checks():
        assert checks.is_enabled()
        with pytest.raises(RuntimeError, match="for dim 0, size is 2 but found index 7"):
            wrong()
        with checks(False):
            wrong()
    assert not checks.is_enabled()
    with pytest.raises(RuntimeError, match="found index 7"):
        checks()(wrong)()
    checks.enable()
    try:
        with pytest.raises(RuntimeError, match="is not satisfied"):
            SPARSE["wrong csr"]()
    finally:
        checks.disable()


def test_a_second_gradient() -> None:
    values = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    dense = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)

    def product(values: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        return torch.sparse.mm(torch.sparse_coo_tensor([[0, 1], [1, 1]], values, (2, 2)), dense)

    assert torch.autograd.gradcheck(product, (values, dense))


def _random(rows: int, columns: int, share: float, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    whole = torch.randint(-4, 5, (rows, columns)).to(dtype)
    return torch.where(torch.rand(rows, columns) < share, whole, torch.zeros((), dtype=dtype))


# Small integers, so that every order of adding gives the same.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 15, 16, 17, 33, 64, 71])
def test_products_with_strided_matrices(dtype: torch.dtype, index: torch.dtype, width: int) -> None:
    torch.manual_seed(width)
    for rows, columns, share in [(40, 30, 0.2), (3, 2600, 0.9), (300, 7, 0.02), (5, 4, 0.0)]:
        whole = _random(rows, columns, share, dtype)
        csr = whole.to_sparse_csr()
        csr = torch.sparse_csr_tensor(
            csr.crow_indices().to(index), csr.col_indices().to(index), csr.values(), csr.shape
        )
        dense = _random(columns, width, 1, dtype)
        expected = (whole.to(torch.complex128) @ dense.to(torch.complex128)).to(dtype)
        assert torch.equal(csr @ dense, expected)
        assert torch.equal(csr @ dense[:, 0], expected[:, 0])
        assert torch.equal(whole.to_sparse() @ dense, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_is_summed_alike_wherever_it_lies(threads: int) -> None:
    torch.manual_seed(0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    row, vector = torch.randn(1, 3000), torch.randn(3000)
    try:
        alone = row.to_sparse_csr() @ vector
        for others in (1, 7, 40):
            whole = torch.cat([torch.where(torch.rand(others, 3000) < 0.3, 1.0, 0.0), row, torch.ones(20, 3000)])
            assert (whole.to_sparse_csr() @ vector)[others] == alone
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_a_product_with_a_wrong_index_is_refused(index: torch.dtype) -> None:
    for column in (-1, 3, torch.iinfo(index).max, torch.iinfo(index).min):
        columns = torch.tensor([0, column], dtype=index)
        wrong = torch.sparse_csr_tensor(torch.tensor([0, 1, 2], dtype=index), columns, torch.ones(2), (2, 3))
        for product in (
            lambda wrong=wrong: wrong @ torch.ones(3),
            lambda wrong=wrong: wrong @ torch.ones(3, 5),
            lambda wrong=wrong: wrong @ torch.eye(3).to_sparse_csr(),
            lambda wrong=wrong: torch.sparse.sampled_addmm(wrong, torch.ones(2, 4), torch.ones(4, 3)),
        ):
            with pytest.raises(IndexError, match="out of bounds for 3 columns"):
                product()


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.complex128]
)
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_products_of_sparse_matrices(dtype: torch.dtype, layout: torch.layout) -> None:
    torch.manual_seed(0)
    for rows, inner, columns, share in [(20, 30, 40, 0.2), (5, 600, 3000, 0.01), (7, 3, 1, 0.5), (4, 5, 6, 0.0)]:
        left, right = _random(rows, inner, share, dtype), _random(inner, columns, share, dtype)
        product = left.to_sparse(layout=layout) @ right.to_sparse(layout=layout)
        assert product.layout == layout
        expected = left.to(torch.complex128) @ right.to(torch.complex128)
        if dtype == torch.bool:
            expected = expected != 0
        assert torch.equal(product.to_dense(), expected.to(dtype))
        with torch.sparse.check_sparse_tensor_invariants():
            if layout == torch.sparse_csr:
                torch.sparse_csr_tensor(product.crow_indices(), product.col_indices(), product.values(), product.shape)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_sampled_products(index: torch.dtype) -> None:
    torch.manual_seed(0)
    whole = _random(9, 11, 0.4)
    csr = whole.to_sparse_csr()
    csr = torch.sparse_csr_tensor(csr.crow_indices().to(index), csr.col_indices().to(index), csr.values(), csr.shape)
    for dtype in (torch.float32, torch.float64, torch.complex64):
        for inner in (0, 1, 5, 16, 37):
            left, right = _random(9, inner, 1, dtype), _random(inner, 11, 1, dtype)
            expected = torch.where(whole != 0, whole * 2 + (left @ right) * 3, torch.zeros((), dtype=dtype))
            sampled = torch.sparse.sampled_addmm(csr.to(dtype), left, right, beta=2, alpha=3)
            assert torch.equal(sampled.to_dense(), expected.to(dtype))
    with pytest.raises(RuntimeError, match="must be as large as the product"):
        torch.sparse.sampled_addmm(csr, torch.ones(8, 2).double(), torch.ones(2, 11).double())


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sums_and_products_by_places(dtype: torch.dtype, layout: torch.layout) -> None:
    torch.manual_seed(0)
    for rows, columns, share in [(20, 30, 0.3), (1, 50, 0.5), (6, 5, 0.0)]:
        left, right = _random(rows, columns, share, dtype), _random(rows, columns, share, dtype)
        a, b = left.to_sparse(layout=layout), right.to_sparse(layout=layout)
        for one, other in ((a, b), (b, a), (a, a), (a, a * 1)):
            x, y = one.to_dense(), other.to_dense()
            assert (one + other).layout == (one * other).layout == layout
            assert torch.equal((one + other).to_dense(), x + y)
            assert torch.equal((one * other).to_dense(), x * y)
        assert torch.equal((a + b.to_sparse(layout=torch.sparse_coo)).to_dense(), left + right)
    if layout != torch.sparse_coo:
        narrow = torch.sparse_compressed_tensor(
            torch.tensor([0, 1, 2], dtype=torch.int32),
            torch.tensor([1, 0], dtype=torch.int32),
            torch.ones(2),
            (2, 2),
            layout=layout,
        )
        parts = narrow + narrow.clone()
        assert (parts.crow_indices() if layout == torch.sparse_csr else parts.ccol_indices()).dtype == torch.int32


def test_places_that_are_shared_are_not_those_that_stand_twice() -> None:
    twice = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, -3.0], (2, 2))
    for left, right in ((twice, twice), (twice, twice * 2), (twice.coalesce(), twice)):
        assert torch.equal((left * right).to_dense(), left.to_dense() * right.to_dense())
        assert torch.equal((left + right).to_dense(), left.to_dense() + right.to_dense())


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_select(dim: int) -> None:
    torch.manual_seed(0)
    whole = _random(8, 9, 0.4).unsqueeze(-1) * torch.ones(3, dtype=torch.float64)
    for tensor in (whole.to_sparse(2), torch.cat([whole.to_sparse(2), whole.to_sparse(2)], 1)):
        for index in ([0, 2, -1, 2], [], [1]):
            chosen = torch.tensor(index, dtype=torch.int64)
            expected = tensor.to_dense().index_select(dim, chosen % tensor.shape[dim])
            assert torch.equal(tensor.index_select(dim, chosen).to_dense(), expected)
    with pytest.raises(IndexError, match="out of range"):
        whole.to_sparse(2).index_select(dim, torch.tensor([100]))


def test_csc_becomes_coo_in_its_own_order() -> None:
    coo = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).to_sparse_csc().to_sparse()
    assert not coo.is_coalesced()
    assert coo._indices().tolist() == [[0, 1, 0, 1], [0, 0, 1, 1]]


def test_comparison() -> None:
    torch.testing.assert_close(_coo(), _coo().coalesce())
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(_coo(), _coo() * 2)
    with pytest.raises(AssertionError, match="layout"):
        torch.testing.assert_close(_coo(), _coo().to_sparse_csr())
    torch.testing.assert_close(_coo(), _coo().to_sparse_csr(), check_layout=False)


def test_anomaly_mode_looks_at_sparse_gradients() -> None:
    weight = torch.zeros(3, 2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        torch.nn.functional.embedding(torch.tensor([0]), weight, sparse=True).sum().backward()
    assert weight.grad is not None
    assert weight.grad.is_sparse
