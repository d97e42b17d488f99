"""Rows of float16 and bfloat16, which kernels in float32 widen and round in registers, however they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

HALVES = (torch.float16, torch.bfloat16)
FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "sqrt": torch.sqrt,
    "relu": torch.relu,
    "elu": functional.elu,
    "clamp": lambda x: x.clamp(-1, 2),
    "add": torch.add,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "addcmul": torch.addcmul,
}
INPUTS = dict.fromkeys(FUNCTIONS, 2) | dict.fromkeys(["sqrt", "relu", "elu", "clamp"], 1) | {"addcmul": 3}


def layouts(make: Callable[..., Tensor]) -> dict[str, Tensor]:
    """Matrices of 23 x 37 in different layouts."""
    return {
        "dense": make(23, 37),
        "transposed": make(37, 23).t(),
        "gaps": make(23, 80)[:, :74:2],
        "repeated row": make(1, 37).expand(23, 37),
        "repeated column": make(23, 1).expand(23, 37),
        "backwards": make(23, 37).flip(1)[:, :],
        "rows of three": make(23, 37, 3)[:, :, 1],
    }


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_are_computed_in_float32_and_rounded_once(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)

    def make(*shape: int) -> Tensor:
        return (torch.randn(shape) * 4).to(dtype)

    function, count = FUNCTIONS[name], INPUTS[name]
    kinds = list(layouts(make))
    for shift in range(1 if count == 1 else 3):
        given = [list(layouts(make).values()) for _ in range(count)]
        for i in range(len(kinds)):
            inputs = [given[k][(i + k * shift) % len(kinds)] for k in range(count)]
            expected = function(*(each.float() for each in inputs)).to(dtype)
            assert torch.equal(function(*inputs).nan_to_num(7), expected.nan_to_num(7)), (name, kinds[i], shift)
            out = torch.empty(37, 46, dtype=dtype)[:, ::2].t()
            function(*inputs, out=out) if name not in ("relu", "elu", "clamp") else out.copy_(function(*inputs))
            assert torch.equal(out.nan_to_num(7), expected.nan_to_num(7)), (name, kinds[i], shift)


@pytest.mark.parametrize("length", [1, 3, 8, 15, 16, 17, 31, 33, 300])
def test_lengths_and_writes_in_place(length: int) -> None:
    for dtype in HALVES:
        x, y = torch.randn(length).to(dtype), torch.randn(length).to(dtype)
        expected = (x.float() * y.float()).to(dtype)
        assert torch.equal(x * y, expected)
        assert torch.equal(x.clone().mul_(y), expected)
        assert torch.equal(y.clone().mul_(x), expected)
        whole = torch.cat((x, torch.ones(40, dtype=dtype)))
        whole[:length].mul_(y)
        assert torch.equal(whole, torch.cat((expected, torch.ones(40, dtype=dtype))))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_operands_of_two_types_and_numbers(dtype: torch.dtype) -> None:
    x, y = torch.randn(5, 21).to(dtype), torch.randn(5, 21)
    assert torch.equal(x * y, x.float() * y)
    assert (x * y).dtype == torch.float32
    assert torch.equal(y.clone().mul_(x), y * x.float())
    assert torch.equal(x.clone().mul_(y), (x.float() * y).to(dtype))
    assert torch.equal(x * 0.3, (x.float() * torch.tensor(0.3)).to(dtype))
    assert torch.equal(x + x[:, :1], (x.float() + x[:, :1].float()).to(dtype))
    assert torch.equal(torch.sqrt(torch.arange(30), out=torch.empty(30)), torch.arange(30.0).sqrt())
    other = HALVES[1 - HALVES.index(dtype)]
    assert torch.equal(x + y.to(other), x.float() + y.to(other).float())


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_number(dtype: torch.dtype) -> None:
    """Subnormal ones, infinities and NaN."""
    x: Any = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    for function in (torch.neg, torch.reciprocal, torch.sqrt, lambda x: x * 1.5, lambda x: x + x.flip(0)):
        result, expected = function(x), function(x.float()).to(dtype)
        assert torch.equal(result.isnan(), expected.isnan())
        assert torch.equal(result.nan_to_num(7), expected.nan_to_num(7))
        assert torch.equal(torch.signbit(result[~result.isnan()]), torch.signbit(expected[~expected.isnan()]))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("columns", [5, 16, 37])
def test_rows_that_are_added_up(dtype: torch.dtype, columns: int) -> None:
    x, source = torch.randn(4, columns).to(dtype), torch.randn(9, columns).to(dtype)
    index = torch.tensor([0, 3, 3, 1, 0, 3, 2, 3, 1])
    expected = x.clone()
    for row, place in enumerate(index.tolist()):
        expected[place] = (expected[place].float() + source[row].float()).to(dtype)
    assert torch.equal(x.index_add(0, index, source), expected)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
@pytest.mark.parametrize("length", [1, 15, 16, 33, 100, 1023, 5000])
def test_reductions_read_float16_as_float32(name: str, length: int) -> None:
    """In the same order, so that the same bits come out, whatever is left over of a vector."""
    x = torch.randn(9, length).half()
    for dim in ((0,), (1,), (0, 1)):
        assert torch.equal(getattr(torch, name)(x, dim), getattr(torch, name)(x.float(), dim).half())
    x[3, length // 2] = float("nan")
    assert getattr(torch, name)(x, (0, 1)).isnan()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("method", ["random_", "bernoulli_"])
def test_integers_are_drawn_as_those_of_float32(method: str, dtype: torch.dtype) -> None:
    def draw(like: Tensor) -> Tensor:
        torch.manual_seed(0)
        result: Tensor = getattr(like, method)(*([200] if method == "random_" else []))
        return result

    for length in (1, 255, 256, 1000):
        expected = draw(torch.empty(length))
        assert torch.equal(draw(torch.empty(length, dtype=dtype)).float(), expected)
        assert torch.equal(draw(torch.empty(length, 3, dtype=dtype)[:, 1]).float(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALVES], ids=str)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("channels", [1, 3, 8, 16, 17, 33, 300])
def test_channels_are_scaled(channels: int, layout: torch.memory_format, dtype: torch.dtype) -> None:
    """In evaluation and in groups: a product and a sum in float32, of pixels with few channels several at a time."""
    computed = torch.float64 if dtype == torch.float64 else torch.float32
    mean, variance = torch.randn(channels, dtype=computed), torch.rand(channels, dtype=computed) + 0.5
    weight, bias = torch.randn(channels, dtype=computed), torch.randn(channels, dtype=computed)
    for pixels in (1, 5, 17, 50):
        x = torch.randn(3, channels, pixels, 1).to(dtype).contiguous(memory_format=layout)
        result = functional.batch_norm(x, mean, variance, weight, bias)
        expected = (x.double() - mean[:, None, None]) / (variance[:, None, None] + 1e-5).sqrt()
        expected = expected.double() * weight[:, None, None] + bias[:, None, None]
        assert result.dtype == dtype
        torch.testing.assert_close(result, expected.to(dtype))
        if channels * pixels == 1:
            continue
        alone = torch.stack([functional.group_norm(y[None].double(), 1)[0] for y in x])
        torch.testing.assert_close(functional.group_norm(x, 1), alone.to(dtype), rtol=1.6e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("columns", [3, 16, 23, 24, 64, 100, 1100])
def test_softmax_of_rows(dtype: torch.dtype, columns: int) -> None:
    """Some short rows at a time: each has the numbers that it has in float32."""
    x = (torch.randn(35, columns) * 4).to(dtype).requires_grad_()
    for function in (torch.softmax, torch.log_softmax):
        wide = x.detach().float().requires_grad_()
        found, expected = function(x, 1), function(wide, 1)
        assert torch.equal(found, expected.to(dtype))
        slopes = torch.randn(x.shape).to(dtype)
        (gradient,) = torch.autograd.grad(found, x, slopes)
        wanted = torch.autograd.grad(function(wide.double(), 1), wide, slopes.double())[0]
        torch.testing.assert_close(gradient.float(), wanted, rtol=2**-6, atol=2**-6)
        if columns >= 24:  # shorter ones are columns while there are several
            assert torch.equal(function(x[3], 0), found[3])
