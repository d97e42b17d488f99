"""Which names torch shows, what stands behind them, and functions that write into `out`."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import torch
from golden import make_coverage
from torch import _bindings, _tensor
from torch._public_names import NAMES

X = torch.arange(12.0).reshape(3, 4)
V = torch.tensor([1.0, 2.0, 3.0])
OUT: dict[str, tuple[Any, ...]] = {
    "column_stack": ([V, X],),
    "diag": (V, 1),
    "diff": (X,),
    "dstack": ([X, X],),
    "hstack": ([V, V],),
    "index_add": (X, 0, torch.tensor([0, 2]), X[:2]),
    "inner": (X, X),
    "kron": (X, V),
    "nan_to_num": (X,),
    "norm": (X, 3, 1),
    "row_stack": ([X, X],),
    "scatter": (X, 0, torch.tensor([[2, 1, 0, 0]]), 5.0),
    "scatter_add": (X, 0, torch.tensor([[2, 1, 0, 0]]), X),
    "tensordot": (X, X.t(), 1),
    "vdot": (V, V),
    "vstack": ([X, X],),
}


def test_functions_that_python_hides() -> None:
    """PyTorch shows them in torch.nn.functional, or nowhere."""
    for name in ("gelu", "linear", "mse_loss", "index", "slice", "tanh_backward"):
        assert not hasattr(torch, name), name
    assert torch._C._nn.linear is torch.nn.functional.linear
    assert not hasattr(torch.Tensor, "slice")
    assert not hasattr(torch, "unique_dim")
    assert not hasattr(torch.Tensor, "silu_")


def test_every_late_name_stands_in_its_module() -> None:
    """And every public function of torch.functional, which exists for this, is one."""
    for name, home in _bindings.LAZY_ATTRIBUTES.items():
        assert getattr(torch, name) is getattr(import_module(home), name)
    defined = ast.parse(inspect.getsource(torch.functional)).body
    functions = {node.name for node in defined if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    assert functions == {name for name, home in _bindings.LAZY_ATTRIBUTES.items() if home == "torch.functional"}


def test_missing_names_say_so() -> None:
    """Both kinds of error: programs that ask first get False, others read what is the matter."""
    for home, name in (
        (torch, "quantize_per_tensor"),
        (X, "to_mkldnn"),
        (torch.nn.functional, "embedding_bag_nothing"),
    ):
        assert not hasattr(home, name)
    for error in (NotImplementedError, AttributeError):
        with pytest.raises(error, match=r"torch\.quantize_per_tensor is not implemented in this torch"):
            _ = torch.quantize_per_tensor
        with pytest.raises(error, match=r"torch\.Tensor\.to_mkldnn is not implemented"):
            X.to_mkldnn()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nonsense'") as caught:
        X.nonsense()
    assert not isinstance(caught.value, NotImplementedError)


def test_tensors_have_no_getattr_of_their_own() -> None:
    """With one every call of a method asks it first; the names that PyTorch has and this torch has not are listed."""
    assert not hasattr(torch.Tensor, "__getattr__")
    missing = [name for name in NAMES["torch.Tensor"].split() if not hasattr(torch.Tensor, name)]
    assert missing == _tensor._UNIMPLEMENTED, "torch._tensor lists them"
    assert not set(missing) & set(dir(X))


def test_coverage_page_is_current() -> None:
    """Otherwise run golden/make_coverage.py."""
    assert make_coverage.PAGE.read_text() == make_coverage.text()


def test_submodules() -> None:
    folder = Path(torch.__file__).parent
    for name in _bindings.public_submodules():
        assert getattr(torch, name) is import_module(f"torch.{name}")
        assert name in dir(torch)
    for name in ("csrc", "nothing_of_the_kind"):  # the former is a folder of a checkout
        assert not hasattr(torch, name), folder


@pytest.mark.parametrize("name", OUT)
def test_out(name: str) -> None:
    function = getattr(torch, name)
    expected = function(*OUT[name])
    out = torch.empty(0, dtype=torch.float64)
    assert function(*OUT[name], out=out) is out
    assert out.dtype is torch.float64
    assert torch.equal(out, expected.double())
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        function(*OUT[name], out=torch.empty(0, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        function(*OUT[name], out=torch.empty(0, requires_grad=True))


def test_named_results() -> None:
    for result, fields in (
        (torch.aminmax(X), ["min", "max"]),
        (torch.median(X, 0), ["values", "indices"]),
        (X.max(0), ["values", "indices"]),
    ):
        assert [getattr(result, field) for field in fields] == list(result)
        assert type(result) is getattr(torch.return_types, type(result).__name__)
    assert type(torch.var_mean(X)) is tuple


def test_a_copy_is_returned_even_where_nothing_moves() -> None:
    for result in (torch.roll(X, 0), torch.roll(X, 12), torch.diff(X, 0), torch.tile(X, (1,))):
        assert result.data_ptr() != X.data_ptr()
