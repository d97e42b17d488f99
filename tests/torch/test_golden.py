"""Values, dtypes, shapes, gradients, random numbers, printed forms and errors: all as PyTorch 2.13 has them."""

from __future__ import annotations

import warnings
from typing import Any

import op_db
import pytest
from torch_cases import TABLES
from torch_cases.errors import SAME_TEXT
from torch_golden import Table, evaluate

import torch

GOLDEN = {name: Table(name) for name in TABLES}
KEYS = [(name, key) for name in TABLES if name != "errors" for key in TABLES[name]]


def _evaluated(name: str, key: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's deprecation warnings have a test of their own
        return evaluate(torch, TABLES[name][key])


@pytest.mark.parametrize(("name", "key"), KEYS, ids=[f"{name}: {key}" for name, key in KEYS])
def test_as_pytorch(name: str, key: str) -> None:
    expected, actual = GOLDEN[name][key], _evaluated(name, key)
    if isinstance(expected, dict) and dict(expected.get("dict", [])).keys() == {"error", "message"}:
        assert isinstance(actual, dict), f"PyTorch raises here, this gave {actual!r}"
        assert actual["error"] == dict(expected["dict"])["error"], actual["message"]
        return
    GOLDEN[name].compare(torch, actual, expected, TABLES[name][key])


@pytest.mark.parametrize("key", TABLES["errors"])
def test_errors_as_pytorch(key: str) -> None:
    """The same exception type; and for most the same text."""
    expected = dict(GOLDEN["errors"][key]["dict"])
    actual = _evaluated("errors", key)
    assert isinstance(actual, dict), actual
    assert actual["error"] == expected["error"], actual["message"]
    assert actual["message"].strip()
    if key in SAME_TEXT:
        assert actual["message"] == expected["message"]


def test_golden_files_are_current() -> None:
    """Every case has an answer, and no answer lost its case: otherwise run golden/make_golden.py."""
    assert {name: list(GOLDEN[name].index) for name in TABLES} == {name: list(TABLES[name]) for name in TABLES}


def test_every_operator_has_a_row() -> None:
    """An operator of torch that no table mentions would go untested."""
    texts = " ".join([*(row.path for row in op_db.OPS), *(name for name, *_ in op_db.LISTS)])
    texts += " ".join(key for table in TABLES.values() for key in table)
    functions = {*dir(torch._C._VariableFunctions), *dir(torch._C._nn)}
    for module in ("linalg", "fft", "special"):  # whose operators have its name in front: linalg_inv
        functions |= {name.replace(f"{module}_", f"{module}.", 1) for name in dir(getattr(torch._C, f"_{module}"))}
    names = [name for name in functions if not name.startswith("_")]
    assert len(names) > 100
    untested = {name for name in names if name.removesuffix("_") not in texts}
    assert untested <= INTERNAL, sorted(untested - INTERNAL)


# Called by other functions (torch.unique), which test them; and names that only exist for PyTorch's sake.
INTERNAL = {
    # not unique: test_linalg asks what factors multiply to
    *("cholesky", "geqrf", "ormqr", "orgqr", "qr", "svd", "lu_solve", "lu_unpack"),
    *(f"linalg.{name}" for name in ("cholesky", "cholesky_ex", "eig", "eigh", "eigvals", "householder_product")),
    *(f"linalg.{name}" for name in ("ldl_factor", "ldl_factor_ex", "ldl_solve", "lu_solve", "qr", "svd")),
    # without a tensor to take: their examples say what they give
    *("fft.fftfreq", "fft.rfftfreq"),
    # PyTorch has no CPU kernels for these: test_rare_names joins them to what batch_norm does
    *("batch_norm_backward_elemt", "batch_norm_backward_reduce", "batch_norm_elemt", "batch_norm_gather_stats"),
    *("batch_norm_gather_stats_with_counts", "batch_norm_stats", "native_norm"),
    # answers that never change
    *("is_distributed", "is_same_size", "is_vulkan_available"),
    # torch.nn.functional shows these under other names
    "native_channel_shuffle",
    "col2im",
    "constant_pad_nd",
    "feature_dropout",
    "feature_dropout_",
    "im2col",
    "log_sigmoid",
    *(f"{border}_pad{dims}d" for border in ("reflection", "replication") for dims in (1, 2, 3)),
    *(f"max_pool{dims}d_with_indices" for dims in (1, 2, 3)),
    "asarray",
    "can_cast",
    "cross_entropy_loss",
    "frombuffer",
    "is_complex",
    "resolve_neg",
    "is_signed",
    "result_type",
    "sparse_sampled_addmm",
    "unique_dim",
}
