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


def test_numbers_that_an_element_type_cannot_hold() -> None:
    ones = torch.ones(3)
    for dtype in (torch.float16, torch.bfloat16):
        number = -3.4e38 if dtype == torch.float16 else 1e39
        infinite = torch.tensor(number, dtype=torch.float32).to(dtype).item()
        halves = ones.to(dtype)
        halves[0] = number
        halves[torch.tensor([False, True, False])] = number
        assert halves.tolist() == [infinite, infinite, 1]
        assert torch.scalar_tensor(number, dtype=dtype).item() == halves.new_full((1,), number).item() == infinite
        assert torch.searchsorted(ones.to(dtype), number).item() == (0 if number < 0 else 3)
        with pytest.raises(RuntimeError, match="without overflow"):
            halves.fill_(number)
    assert torch.zeros((), dtype=torch.float16).fill_(65519).item() == 65504
    condition = torch.tensor([True, False])
    for left, right in ((300, torch.zeros(2, dtype=torch.int8)), (torch.zeros(2, dtype=torch.uint8), 300)):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.where(condition, left, right)
    assert torch.where(condition, -128, torch.zeros(2, dtype=torch.int8)).tolist() == [-128, 0]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_numbers_over_infinite_ones_are_zero(dtype: torch.dtype) -> None:
    finite = torch.tensor([1 + 2j, -3.5, 1e30j, 0] * 5, dtype=dtype)
    for infinite in (complex("inf"), complex("-inf"), complex("infj"), complex(2, float("-inf"))):
        divisor = torch.tensor(infinite, dtype=dtype)
        assert torch.equal(finite / divisor, torch.zeros_like(finite))
        assert torch.equal(
            (torch.ones(9, dtype=dtype) * 0 + divisor.reciprocal()).abs(), torch.zeros(9, dtype=dtype).abs()
        )
    assert (finite / torch.tensor(complex(float("inf"), float("inf")), dtype=dtype)).isnan().all()
