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
