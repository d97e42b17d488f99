"""Numbers in place of every tensor, and sums that are asked for in booleans."""

from __future__ import annotations

import pytest

import torch


def test_numbers_alone_make_tensors() -> None:
    results = {
        "add": (torch.add(1, 2, alpha=3), 7, torch.int64),
        "sub": (torch.sub(5, 2.5), 2.5, torch.float32),
        "mul": (torch.mul(2, True), 2, torch.int64),
        "div": (torch.div(7, 2), 3.5, torch.float32),
        "div to the floor": (torch.div(-7, 2, rounding_mode="floor"), -4, torch.int64),
        "floor_divide": (torch.floor_divide(7, 2), 3, torch.int64),
        "multiply": (torch.multiply(2, 1j), 2j, torch.complex64),
    }
    for result, value, dtype in results.values():
        assert (result.item(), result.dtype, result.shape) == (value, dtype, ())
    out = torch.empty(())
    assert torch.add(1, 2, out=out) is out
    assert out == 3
    for name in ("remainder", "fmod", "pow", "eq", "bitwise_and", "copysign"):
        with pytest.raises(TypeError, match=name):
            getattr(torch, name)(7, 2)


def test_sums_and_products_in_booleans() -> None:
    x = torch.tensor([[True, False], [True, True]])
    assert x.sum(1, dtype=torch.bool).tolist() == [True, True]
    assert x.prod(1, dtype=torch.bool).tolist() == [False, True]
    assert torch.sum(torch.tensor([0.0, -0.5]), dtype=torch.bool).item() is True
    assert torch.prod(torch.tensor([2, 0]), dtype=torch.bool).item() is False
    assert torch.zeros(0, 2).sum(0, dtype=torch.bool).tolist() == [False, False]
    assert torch.zeros(0, 2).prod(0, dtype=torch.bool).tolist() == [True, True]
