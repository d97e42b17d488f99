"""Several indices at once, which repeat, lie apart or have rows behind them, held against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import torch

SHAPES = [(7, 6, 5), (7, 6, 1), (7, 6, 33)]
TYPES = [torch.uint8, torch.bfloat16, torch.float32, torch.complex128]


def places(size: int, *shape: int) -> torch.Tensor:
    """From the end, too."""
    return torch.randint(-size, size, shape)


def as_array(x: torch.Tensor) -> np.ndarray:
    return torch.view_as_real(x).numpy() if x.is_complex() else x.float().numpy()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_of_rows_and_columns(shape: tuple[int, int, int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randint(200, shape).to(dtype)
    array = as_array(x)
    indices = {
        "block": (places(7, 9, 1), places(6, 700)),
        "alike": (places(7, 4, 30), places(6, 4, 30)),
        "turned": (places(7, 700, 3).t(), places(6, 3, 1)),
        "apart": (places(7, 1400)[::2], places(6, 2, 1)),
        "a number": (torch.tensor(-3), places(6, 5)),
        "numbers": (torch.tensor(3), torch.tensor(-1)),
        "none": (places(7, 0), places(6, 3, 1)),
        "all three": (places(7, 9, 1, 1), places(6, 5, 1), places(shape[2], 600)),
    }
    for index in indices.values():
        found = x[index]
        assert found.is_contiguous()
        assert np.array_equal(as_array(found), array[tuple(each.numpy() for each in index)])
    first, second = indices["block"]
    assert torch.equal(x[::2, 1:][first % 4, second % 5], x.clone()[first % 4 * 2, second % 5 + 1])
    assert torch.equal(x.transpose(0, 1)[second, first], x[first, second])
    assert torch.equal(x.expand(3, *shape)[first[:, :1] % 3, first, second], x[first, second])


def test_which_index_is_outside() -> None:
    x = torch.arange(42).reshape(7, 6)
    inside = torch.arange(6)
    with pytest.raises(IndexError, match="index 7 is out of bounds for dimension 0 with size 7"):
        x[torch.tensor([[0], [7]]), inside]
    with pytest.raises(IndexError, match="index -7 is out of bounds for dimension 1 with size 6"):
        x[inside[:, None], inside - 7]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(40, 8, 4), (3, 8, 1, 5), (1, 8, 70), (40, 8, 1), (5, 8, 2, 3), (2, 3, 8, 6)])
def test_pieces_of_inner_dimensions(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randint(200, shape).to(dtype)
    dim = shape.index(8)
    for index in (torch.tensor([5]), torch.tensor([2, 0, 7]), torch.randint(8, (1000,)), torch.randint(8, (40,))[::2]):
        chosen = (slice(None),) * dim + (index,)
        parts = torch.stack([x.select(dim, int(i)) for i in index], dim)
        assert torch.equal(x.index_select(dim, index), parts)
        assert torch.equal(x[chosen], parts)
        assert torch.equal(x[(slice(None),) * dim + (index - 8,)], parts)
        wide = torch.cat([x, x], -1)[..., : shape[-1]]
        assert torch.equal(wide.index_select(dim, index), parts)
        assert torch.equal(x.transpose(0, -1).index_select(dim, index), parts.transpose(0, -1))
    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        x[(slice(None),) * dim + (torch.tensor([1, 8]),)]
