"""Products of matrices of bytes, summed up in int32."""

from __future__ import annotations

import itertools

import pytest

import torch


@pytest.mark.parametrize("signed", [True, False], ids=["int8", "uint8"])
@pytest.mark.parametrize("rows", [0, 1, 5, 8, 31, 33, 97])
@pytest.mark.parametrize("inner", [0, 1, 3, 4, 67, 513, 1030])
def test_products_of_bytes(rows: int, inner: int, signed: bool) -> None:
    torch.manual_seed(0)
    left = torch.randint(0, 256, (rows, inner)).to(torch.uint8)
    if signed:
        left = left.view(torch.int8)
    for columns in (0, 1, 16, 17, 32, 50):
        right = torch.randint(-128, 128, (inner, columns)).to(torch.int8)
        expected = (left.double() @ right.double()).int()
        lefts = (left, left.t().contiguous().t(), left.repeat(1, 2)[:, :inner], left.repeat_interleave(2, 1)[:, ::2])
        wide = right.t().repeat(1, 2)[:, :inner].t()
        rights = (right, right.t().contiguous().t(), right.repeat(1, 2)[:, columns:], wide)
        for first, second in itertools.product(lefts, rights):
            product = torch._int_mm(first, second)
            assert product.dtype == torch.int32
            assert torch.equal(product, expected)


def test_sums_of_the_largest_products() -> None:
    for number in (-128, 127):
        line = torch.full((3, 20_000), number, dtype=torch.int8)
        assert torch._int_mm(line, line.t()).tolist() == [[number * number * 20_000] * 3] * 3
    bright = torch.full((2, 5000), 255, dtype=torch.uint8)
    assert torch._int_mm(bright, torch.full((5000, 1), -128, dtype=torch.int8)).tolist() == [[-255 * 128 * 5000]] * 2


def test_bytes_that_are_no_matrices() -> None:
    bytes_ = torch.ones(2, 3, dtype=torch.int8)
    out = torch.empty(2, 2, dtype=torch.int32)
    assert torch._int_mm(bytes_, bytes_.t(), out=out) is out
    assert out.tolist() == [[3, 3], [3, 3]]
    with pytest.raises(RuntimeError, match="3 columns cannot be multiplied by one of 2 rows"):
        torch._int_mm(bytes_, bytes_)
    with pytest.raises(RuntimeError, match="must be a matrix"):
        torch._int_mm(bytes_[0], bytes_.t())
    for first, second in ((torch.float32, torch.float32), (torch.int8, torch.uint8), (torch.int32, torch.int8)):
        with pytest.raises(RuntimeError, match="expected matrices of int8"):
            torch._int_mm(bytes_.to(first), bytes_.t().to(second))
