"""Every function that torch.onnx translates, by the samples of op_db: onnxruntime gives what torch gives."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import nn_modules
import op_db
import pytest
from op_sample import Call, Op, build, function_of

import torch
from torch.onnx import errors
from torch.onnx._recording import flatten_outputs

pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator

DTYPES = ("float32", "int64", "bool")
ROWS = {f"{row.path}-{number}": row for number, row in enumerate(op_db.OPS)}
# What onnxruntime itself lacks, or does in another way.
RUNTIME = {
    "torch.convolution": "ConvTranspose with output_padding beyond the stride",
    "torch.unique": "Unique of bool",
}


def samples(row: Op) -> Iterator[tuple[str, Call, Any, list[Any]]]:
    """(dtype, sample, function, expected) for the samples that torch itself takes and that have a tensor."""
    function = function_of(torch, row.path)
    for dtype in [each for each in DTYPES if each in row.dtypes]:
        for sample in row.calls:
            args, kwargs, _ = build(torch, sample, dtype)
            if any(isinstance(leaf, torch.Tensor) for leaf in torch.utils._pytree.tree_leaves((args, kwargs))):
                try:
                    expected = list(flatten_outputs(function(*args, **kwargs)))
                except RuntimeError:  # a sample of an error
                    continue
                yield dtype, sample, function, expected


def run(row: Op, opset: int) -> int:
    """How many samples were equal; others have no form."""
    return sum(run_sample(row, opset, *each) for each in samples(row))


def run_sample(row: Op, opset: int, dtype: str, sample: Call, function: Any, expected: list[Any]) -> bool:
    """Whether it has a form, which then gives the same."""
    args, kwargs, _ = build(torch, sample, dtype)
    try:
        program = torch.onnx.export(lambda *a, **k: function(*a, **k), tuple(args), kwargs=kwargs, opset_version=opset)
    except (errors.UnsupportedOperatorError, errors.DataDependentError, errors.SymbolicValueError):
        return False
    try:
        results = program(*args, **kwargs)
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error) or row.path in RUNTIME:
            return False
        raise
    for mine, other in zip(results, map(torch.as_tensor, expected), strict=True):
        assert mine.shape == other.shape
        torch.testing.assert_close(
            mine, other, equal_nan=True, rtol=1e-4 * row.scale, atol=3e-5 * row.scale,
            msg=lambda text: f"{dtype} {sample}: {text}",
        )  # fmt: skip
    return True


@pytest.fixture(scope="module")
def outcomes() -> dict[str, int]:
    return {}


@pytest.mark.parametrize("name", ROWS)
def test_a_function_gives_the_same_or_is_refused(name: str, outcomes: dict[str, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes[name] = run(ROWS[name], 20)


def test_most_of_them_have_a_form(outcomes: dict[str, int]) -> None:
    if len(outcomes) < len(ROWS):
        pytest.skip("not all of them ran")
    assert sum(count > 0 for count in outcomes.values()) >= 435
    assert sum(outcomes.values()) >= 1600


# Modules that a graph cannot be: they write into their weights, loop over values, or have no operator.
REFUSED_MODULES = ("max_norm", "proj_size", "AdaptiveLogSoftmaxWithLoss", "return_indices=True)")


@pytest.mark.parametrize("expression", [text for text, shapes in nn_modules.ROWS if shapes])
def test_a_module_gives_the_same(expression: str) -> None:
    shapes = dict(nn_modules.ROWS)[expression]
    module = nn_modules.make(torch, expression).eval()
    args, _, _ = build(torch, Call(tuple(map(nn_modules.sample, shapes)), ()), "float32")
    args = [each.detach() for each in args]
    with torch.no_grad():
        expected = list(flatten_outputs(module(*(each.clone() for each in args))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = torch.onnx.export(module, tuple(args))
        except (errors.UnsupportedOperatorError, errors.DataDependentError):
            assert any(word in expression for word in REFUSED_MODULES)
            return
    for mine, other in zip(program(*args), map(torch.as_tensor, expected), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("opset", [17, 18, 19, 21, 22, 23])
@pytest.mark.parametrize(
    "path", ["torch.sum", "torch.amax", "F.gelu", "F.interpolate", "F.pad", "F.grid_sample", "torch.roll"]
)
def test_functions_that_opsets_write_in_other_ways(path: str, opset: int) -> None:
    equal = sum(run(row, opset) for row in ROWS.values() if row.path == path)
    assert equal
