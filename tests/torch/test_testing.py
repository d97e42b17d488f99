"""torch.testing: what it accepts, and what its messages say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torch
from torch.testing import assert_close, make_tensor


def test_accepts() -> None:
    assert_close(torch.ones(2), torch.ones(2) + 1e-7)
    assert_close({"a": [1, torch.ones(1)]}, {"a": [1, torch.ones(1)]})
    assert_close(1.0, 1.0 + 1e-9)
    assert_close(torch.tensor(float("nan")), torch.tensor(float("nan")), equal_nan=True)
    assert_close(torch.ones(1), torch.ones(1, dtype=torch.float64), check_dtype=False)
    assert_close(np.ones(2), np.ones(2))
    assert_close(torch.ones(3), torch.zeros(3), rtol=0, atol=1)


REFUSED: list[tuple[Any, Any, str]] = [
    (torch.ones(2), torch.ones(3), "attribute 'shape' do not match"),
    (torch.ones(2), torch.ones(2).double(), "attribute 'dtype' do not match"),
    (
        torch.ones(2, 2),
        torch.eye(2),
        r"Mismatched elements: 2 / 4 \(50.0%\)\nGreatest absolute difference: 1.0 at index \(0, 1\)",
    ),
    (torch.tensor(1.0), torch.tensor(2.0), "Scalars are not close!\n\nExpected 2.0 but got 1.0"),
    (torch.tensor([1, 2]), torch.tensor([1, 3]), "not equal!"),
    (torch.tensor(float("nan")), torch.tensor(float("nan")), "not close"),
    ([1, 2], [1], "length of the sequences mismatch: 2 != 1"),
    ([1, 2], [1, 3], r"item \[1\]"),
    ({"a": 1}, {"b": 1}, "keys of the mappings do not match"),
    ({"a": [1.0]}, {"a": [2.0]}, r"item \['a'\]\[0\]"),
]


@pytest.mark.parametrize(("actual", "expected", "message"), REFUSED)
def test_refuses(actual: Any, expected: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected)


def test_misuse_and_messages() -> None:
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(torch.ones(1), "a")
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol'"):
        assert_close(1, 1, rtol=1.0)
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^before: Scalars"):
        assert_close(1, 2, msg=lambda text: f"before: {text}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool])
def test_make_tensor(dtype: torch.dtype) -> None:
    tensor = make_tensor(3, 4, dtype=dtype)
    assert (tuple(tensor.shape), tensor.dtype) == ((3, 4), dtype)
    assert not make_tensor((3, 4), dtype=dtype, noncontiguous=True).is_contiguous()
    if dtype is not torch.bool:
        bounded = make_tensor(100, dtype=dtype, low=2, high=5)
        assert 2 <= bounded.min().item() <= bounded.max().item() <= 5
        assert (make_tensor(200, dtype=dtype, low=0, high=2, exclude_zero=True) != 0).all()
    assert make_tensor(2, dtype=torch.float64, requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="less than"):
        make_tensor(2, dtype=torch.float32, low=3, high=1)
