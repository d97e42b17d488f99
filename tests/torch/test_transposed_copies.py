"""Copies that turn a matrix round, in squares of a line or of 16 bytes, at the borders of both."""

from __future__ import annotations

import itertools

import pytest

import torch

SIDES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 128, 200)
TYPES = (torch.uint8, torch.int16, torch.float32, torch.int64, torch.complex128)


def distinct(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel()).remainder(251).view(shape).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_each_element_is_where_it_belongs(dtype: torch.dtype) -> None:
    for rows, columns in itertools.product(SIDES, SIDES):
        x = distinct(rows, columns, dtype=dtype)
        expected = [list(column) for column in zip(*x.tolist(), strict=True)]
        assert x.t().contiguous().tolist() == expected
        framed = torch.zeros(columns, rows + 3, dtype=dtype)
        framed[:, 1:-2].copy_(x.t())
        assert framed.tolist() == [[0, *row, 0, 0] for row in expected]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_columns_whose_elements_lie_apart(dtype: torch.dtype) -> None:
    for rows, columns in ((3, 40), (8, 8), (17, 70), (65, 33), (130, 129)):
        x = distinct(2 * rows + 1, 3 * columns, dtype=dtype)
        for view in (x[:rows, ::3], x[1::2, :columns], x.flip(0)[:rows, 1 : 2 * columns : 2]):
            assert view.t().contiguous().tolist() == [list(column) for column in zip(*view.tolist(), strict=True)]


def test_columns_a_power_of_two_apart() -> None:
    for dtype in TYPES:
        x = distinct(70, 4096, dtype=dtype)
        assert torch.equal(x.t().contiguous()[::13], torch.stack([x[:, i] for i in range(0, 4096, 13)]))


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_several_matrices(order: tuple[int, ...]) -> None:
    x = distinct(5, 17, 3, 66, dtype=torch.float32)
    moved = x.permute(order).contiguous()
    back = [order.index(dim) for dim in range(4)]
    for place in ((0, 0, 0, 0), (4, 16, 2, 65), (1, 9, 0, 64), (3, 2, 1, 17)):
        assert moved[tuple(place[dim] for dim in order)] == x[place]
    assert moved.permute(back).flatten().tolist() == x.flatten().tolist()


def test_results_beyond_all_caches() -> None:
    x = torch.arange(2048 * 4112, dtype=torch.int32).view(2048, 4112)
    plain = x.t().contiguous()
    assert plain.is_contiguous()
    assert torch.equal(plain[:, 5], x[5])
    assert torch.equal(plain[4111], x[:, 4111].clone())
    assert torch.equal(plain.t()[::97], x[::97])
