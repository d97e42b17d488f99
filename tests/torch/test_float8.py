"""Tensors of the floating types of 8 bits: kept, moved, converted, saved, and not computed with."""

from __future__ import annotations

import io
import math
import zlib
from typing import TYPE_CHECKING, Any

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

DTYPES = (
    torch.float8_e5m2,
    torch.float8_e4m3fn,
    torch.float8_e5m2fnuz,
    torch.float8_e4m3fnuz,
    torch.float8_e8m0fnu,
)
# Checksums of PyTorch 2.13's answers: the bits of 2^20 floats (every 4093rd), and the floats of all bits.
PYTORCH = {
    torch.float8_e5m2: (986140382, 2220756606),
    torch.float8_e4m3fn: (302922894, 1219570127),
    torch.float8_e5m2fnuz: (142661442, 1407755648),
    torch.float8_e4m3fnuz: (2285052062, 2834304598),
    torch.float8_e8m0fnu: (608403254, 3553680995),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions_are_pytorchs(dtype: torch.dtype) -> None:
    floats = (torch.arange(1 << 20) * 4093 - (1 << 31)).to(torch.int32).view(torch.float32)
    narrow = floats.to(dtype)
    wide = torch.arange(256).to(torch.uint8).view(dtype).float()
    marked = torch.nan_to_num(wide, nan=1e30, posinf=2e30, neginf=-2e30)
    sums = [zlib.crc32(bytes(x.view(torch.uint8).tolist())) for x in (narrow, marked)]
    assert sums == list(PYTORCH[dtype])
    # One by one as all at once; and other types hold every number.
    assert torch.equal(floats[::4099].contiguous().to(dtype).view(torch.uint8), narrow[::4099].view(torch.uint8))
    finite = wide[wide.isfinite()]
    for other in (torch.float64, torch.bfloat16, torch.complex64):
        assert torch.equal(finite.to(dtype).to(other), finite.to(other))
        assert torch.equal(finite.to(other).to(dtype).float(), finite)


def test_rounding() -> None:
    assert torch.tensor([1.0625, 1.1875, 464.5, 1e9, -math.inf]).to(torch.float8_e4m3fn).tolist() == [
        1,
        1.25,
        448,
        448,
        -448,
    ]
    assert torch.tensor([61439, 61440, -math.inf]).to(torch.float8_e5m2).tolist() == [57344, math.inf, -math.inf]
    beyond = torch.tensor([248.0, math.inf, -0.0]).to(torch.float8_e4m3fnuz)
    assert beyond.view(torch.uint8).tolist() == [0x80, 0x80, 0]
    assert torch.tensor([0.0, 1.5, -3, 0.7, 1e38]).to(torch.float8_e8m0fnu).tolist() == [2.0**-127, 2, 4, 0.5, 2.0**126]
    assert torch.tensor([True, False]).to(torch.float8_e4m3fn).tolist() == [1, 0]
    assert torch.tensor([300, -7]).to(torch.float8_e4m3fn).to(torch.int32).tolist() == [288, -7]


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_moves_elements_takes_them(dtype: torch.dtype) -> None:
    x = torch.tensor([[1.0, 2.0], [0.5, 4.0]]).to(dtype)
    index = torch.tensor([1, 0])
    moves: list[Callable[[torch.Tensor], Any]] = [
        lambda x: x.t().contiguous(),
        lambda x: torch.cat([x, x[:1]]),
        lambda x: torch.stack([x, x]),
        lambda x: x[index],
        lambda x: x[x != 2],
        lambda x: x.index_select(1, index),
        lambda x: x.roll(1),
        lambda x: x.flip(0),
        lambda x: x.gather(1, index[:, None]),
        lambda x: torch.where(x == 4, x, x[0, 0]),
        lambda x: x.clone().index_put_((index,), x[0]),
        lambda x: x.masked_fill(x == 1, 2.0),
        lambda x: torch.nn.functional.pad(x, (1, 0), value=1.0),
        lambda x: torch.nn.functional.embedding(index, x),
        lambda x: x.repeat(2, 1),
        lambda x: x.abs(),
    ]
    for move in moves:
        moved = move(x)
        assert moved.dtype == dtype
        assert torch.equal(moved.float(), move(x.float()))
    assert torch.equal(x, x.clone())
    assert (x == 2).tolist() == [[False, True], [False, False]]
    assert not x.isnan().any()
    assert torch.full((2,), 4.0, dtype=dtype).tolist() == [4.0, 4.0]
    assert repr(x[0]) == f"tensor([1., 2.], dtype={dtype})"
    assert x.tolist() == [[1, 2], [0.5, 4]]
    assert torch.tensor([1.0, 2.0], dtype=dtype).dtype == dtype
    x[0, 0] = 4
    assert x[0, 0].item() == 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_computes_refuses_them(dtype: torch.dtype) -> None:
    x = torch.ones(2, 2).to(dtype)
    for compute in (lambda: x + x, lambda: x * 2, lambda: x.sum(), lambda: x.exp(), lambda: -x, lambda: x.sort()):
        with pytest.raises(NotImplementedError, match=f"not implemented for '{x.type().removeprefix('torch.')[:-6]}'"):
            compute()
    for other in (torch.float32, torch.int64, torch.bool):
        with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
            torch.promote_types(dtype, other)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.full((2,), -1e39, dtype=dtype)
    assert torch.can_cast(dtype, torch.float32)
    assert not torch.can_cast(dtype, torch.int32)
    assert dtype.is_floating_point
    assert dtype.itemsize == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_files_gradients_and_modules(dtype: torch.dtype) -> None:
    x = torch.tensor([1.0, 2.0, 0.25]).to(dtype)
    stream = io.BytesIO()
    torch.save({"x": x}, stream)
    stream.seek(0)
    loaded = torch.load(stream)["x"]
    assert loaded.dtype == dtype
    assert torch.equal(loaded.view(torch.uint8), x.view(torch.uint8))
    weight = torch.ones(3, requires_grad=True)
    (weight.to(dtype).float() * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [1, 2, 4]
    assert torch.nn.Linear(2, 2).to(dtype).weight.dtype == dtype


def test_products_with_factors() -> None:
    torch.manual_seed(0)
    a = torch.randn(16, 32).to(torch.float8_e4m3fn)
    b = torch.randn(48, 32).to(torch.float8_e5m2).t()
    whole, lines = torch.nn.functional.ScalingType.TensorWise, torch.nn.functional.ScalingType.RowWise
    one, other = torch.tensor(0.3), torch.tensor([[1.7]])
    expected = (a.float() * 0.3) @ (b.float() * 1.7)
    multiply = torch.nn.functional.scaled_mm
    assert torch.equal(multiply(a, b, one, whole, [other], [whole], output_dtype=torch.float32), expected)
    assert torch.equal(multiply(a, b, one, whole, other, whole), expected.bfloat16())
    bias = torch.randn(48)
    added = multiply(a, b, one, whole, other, whole, bias=bias, output_dtype=torch.float16)
    assert torch.equal(added, (expected + bias).half())
    rows, columns = torch.rand(16, 1), torch.rand(1, 48)
    expected = (a.float() * rows) @ (b.float() * columns)
    assert torch.equal(multiply(a, b, rows, lines, columns, lines, output_dtype=torch.float32), expected)
    assert torch._scaled_mm(a, b, one, other).dtype == a.dtype
    assert torch.equal((a @ a.t()).float(), (a.float() @ a.float().t()).to(a.dtype).float())
    with pytest.raises(ValueError, match="Invalid scaling configuration"):
        torch._scaled_mm(a, b, rows, other)
    with pytest.raises(ValueError, match="Invalid scaling configuration"):
        torch._scaled_mm(a.float(), b.float(), one, other)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        torch._scaled_mm(a, b.t(), one, other)
    with pytest.raises(NotImplementedError, match="not BlockWise1x32 and TensorWise"):
        multiply(a, b, one, torch.nn.functional.ScalingType.BlockWise1x32, other, whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack(dtype: torch.dtype) -> None:
    x = torch.tensor([1.0, 2.0, 0.25]).to(dtype)
    taken = torch.from_dlpack(x)
    assert taken.dtype == dtype
    assert torch.equal(taken, x)


def test_limits() -> None:
    limits = torch.finfo(torch.float8_e4m3fn)
    assert (limits.min, limits.max, limits.eps, limits.tiny, limits.bits) == (-448, 448, 0.125, 2.0**-6, 8)
    assert torch.finfo(torch.float8_e8m0fnu).min == 2.0**-127
    with pytest.raises(TypeError, match="default type"):
        torch.set_default_dtype(torch.float8_e5m2)
