"""What only moves elements gives what NumPy gives, for lengths around a vector and each size of elements."""

from __future__ import annotations

import numpy as np
import pytest

import torch
from torch.nn import functional

TYPES = [torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex128]
LENGTHS = [1, 2, 3, 7, 8, 15, 16, 17, 28, 31, 33, 63, 65, 129]


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(int(np.prod(shape))) * 7 % 251).reshape(shape).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_joining(length: int, dtype: torch.dtype) -> None:
    x = numbers(5, length, dtype=dtype)
    for count in (2, 3, 4, 5):
        parts = [x + number for number in range(count)]
        arrays = [part.numpy() for part in parts]
        assert np.array_equal(torch.stack(parts, 2).numpy(), np.stack(arrays, 2))
        assert np.array_equal(torch.stack(parts, 1).numpy(), np.stack(arrays, 1))
        assert np.array_equal(torch.cat(parts, 1).numpy(), np.concatenate(arrays, 1))
        assert np.array_equal(torch.column_stack([part[0] for part in parts]).numpy(), np.stack(arrays, 2)[0])
        assert np.array_equal(x.repeat_interleave(count, 1).numpy(), x.numpy().repeat(count, 1))
    uneven = [x, x[:, :1], x[:, : length // 2], x]
    assert np.array_equal(torch.cat(uneven, 1).numpy(), np.concatenate([part.numpy() for part in uneven], 1))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_turning_and_shifting(length: int, dtype: torch.dtype) -> None:
    x = numbers(3, 4, length, dtype=dtype)
    array = x.numpy()
    assert np.array_equal(x.flip(2).numpy(), array[:, :, ::-1])
    assert np.array_equal(x.flip(0, 2).numpy(), array[::-1, :, ::-1])
    assert np.array_equal(x[..., 1:].flip(-1).numpy(), array[..., :0:-1])
    assert np.array_equal(x.roll(3, 2).numpy(), np.roll(array, 3, 2))
    assert np.array_equal(x.roll((-1, 5), (1, 2)).numpy(), np.roll(array, (-1, 5), (1, 2)))
    assert np.array_equal(x.rot90(1, (1, 2)).numpy(), np.rot90(array, 1, (1, 2)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("height", "width"), [(2, 40), (3, 70), (4, 9), (5, 8), (8, 5), (33, 40), (130, 3), (1, 64)])
def test_permutations(height: int, width: int, dtype: torch.dtype) -> None:
    x = numbers(3, 2, height, width, dtype=dtype)
    array = x.numpy()
    for order in ((0, 1, 3, 2), (3, 2, 1, 0), (2, 0, 3, 1), (3, 0, 1, 2), (1, 3, 2, 0), (0, 2, 3, 1)):
        assert np.array_equal(x.permute(order).contiguous().numpy(), array.transpose(order))
        assert np.array_equal(x[:, :, 1:].permute(order).contiguous().numpy(), array[:, :, 1:].transpose(order))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("length", [2, 5, 16, 33])
def test_padding(length: int, mode: str, layout: torch.memory_format, dtype: torch.dtype) -> None:
    if dtype.is_complex and layout == torch.channels_last:
        pytest.skip("the same words as of float64")
    x = numbers(2, 3, 4, length, dtype=dtype).contiguous(memory_format=layout)
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    extra = {"constant_values": 3} if mode == "constant" else {}
    for pad in ((1, 0, 0, 0), (1, 1, 2, 3), (0, 1, 3, 0)):
        widths = [(0, 0), (0, 0), (pad[2], pad[3]), (pad[0], pad[1])]
        result = functional.pad(x, pad, mode, 3 if mode == "constant" else None)
        assert np.array_equal(result.numpy(), np.pad(x.numpy(), widths, names[mode], **extra))
        assert mode == "circular" or result.is_contiguous(memory_format=layout)
    if mode == "constant":
        smaller = functional.pad(x, (-1, 2, 1, -2), value=7)
        expected = np.pad(x.numpy()[:, :, :-2, 1:], [(0, 0), (0, 0), (1, 0), (0, 2)], "constant", constant_values=7)
        assert np.array_equal(smaller.numpy(), expected)
        assert bool((functional.pad(x, (-length, 3, 0, 0), value=7) == 7).all())


@pytest.mark.parametrize("groups", [1, 2, 4, 8])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
def test_channels_are_dealt(layout: torch.memory_format, groups: int) -> None:
    x = numbers(2, 8, 3, 5).contiguous(memory_format=layout)
    result = functional.channel_shuffle(x, groups)
    expected = x.numpy().reshape(2, groups, 8 // groups, 3, 5).swapaxes(1, 2).reshape(2, 8, 3, 5)
    assert np.array_equal(result.numpy(), expected)
    assert result.is_contiguous(memory_format=layout)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.float16, torch.float32, torch.complex64], ids=str)
def test_single_places_are_written(dtype: torch.dtype) -> None:
    x = torch.zeros(40, dtype=dtype)
    places = torch.tensor([3, -1, 3, 0])
    values = torch.tensor([1, 2, 5, 4]).to(dtype)
    assert x.put(places[1:], values[1:])[[3, 39, 0]].tolist() == values[[2, 1, 3]].tolist()
    summed = x.put(places, values, accumulate=True)
    assert summed[3] == values[0] + values[2]
    assert summed[39] == values[1]
    with pytest.raises(IndexError, match="index 40 is out of bounds for dimension 0 with size 40"):
        x.put(torch.tensor([40]), values[:1])
    with pytest.raises(IndexError, match="index -41 is out of bounds"):
        x[::2].index_put_((torch.tensor([-41]),), values[:1])
    apart = torch.zeros(80, dtype=dtype)[::2]
    apart.index_put_((places[1:],), values[1:])
    assert apart[[3, 39, 0]].tolist() == values[[2, 1, 3]].tolist()


@pytest.mark.parametrize("length", [*range(1, 9), 17, 33, 40, 70])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_windows_of_a_line(dtype: torch.dtype, step: int, length: int) -> None:
    x = torch.randn(2, 3, length, dtype=dtype)
    x[0, 0, length // 2] = float("nan")
    for kernel, padding in ((1, 0), (2, 1), (3, 1), (5, 2)):
        if length + 2 * padding < kernel:
            continue
        padded = functional.pad(x, (padding, padding), value=-torch.inf).unfold(2, kernel, step)
        result = functional.max_pool1d(x, kernel, step, padding)
        assert torch.equal(result.nan_to_num(99), padded.amax(-1).nan_to_num(99))
        values, places = functional.max_pool1d(x, kernel, step, padding, return_indices=True)
        assert torch.equal(values.nan_to_num(99), result.nan_to_num(99))
        assert torch.equal(x.gather(2, places).nan_to_num(99), result.nan_to_num(99))
        sums = functional.pad(x, (padding, padding)).unfold(2, kernel, step).sum(-1) / kernel
        assert torch.allclose(functional.avg_pool1d(x, kernel, step, padding), sums, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("length", [*range(1, 10), 16, 17, 33, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_adaptive_windows_of_a_line(dtype: torch.dtype, length: int) -> None:
    x = torch.randn(2, 3, length).to(dtype)
    x[0, 0, length // 2] = float("nan")
    for count in (1, 2, 3, 4, 5, 7, 9, 12):
        bounds = [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
        maxima, places = functional.adaptive_max_pool1d(x, count, return_indices=True)
        averages = functional.adaptive_avg_pool1d(x, count)
        for i, (begin, end) in enumerate(bounds):
            window = x[:, :, begin:end]
            assert torch.equal(maxima[:, :, i].nan_to_num(99), window.amax(-1).nan_to_num(99))
            assert torch.allclose(averages[:, :, i].double(), window.double().mean(-1), 1e-2, 1e-2, equal_nan=True)
        assert torch.equal(x.gather(2, places).nan_to_num(99), maxima.nan_to_num(99))
        if length > 1:
            assert bool((places[1] == functional.adaptive_max_pool1d(x[1:].double(), count, True)[1][0]).all())


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("size", [(3, 5), (7, 9), (14, 40), (20, 33), (5, 70)])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_images_in_another_size(mode: str, size: tuple[int, int], layout: torch.memory_format) -> None:
    x = torch.randn(2, 6, 7, 20).contiguous(memory_format=layout).requires_grad_()
    result = functional.interpolate(x, size, mode=mode)
    result.backward(torch.ones_like(result))
    # Column by column, which are too narrow for vectors, and in double.
    y = x.detach().double().transpose(2, 3).contiguous().requires_grad_()
    turned = functional.interpolate(y, size[::-1], mode=mode)
    turned.backward(torch.ones_like(turned))
    assert torch.allclose(result, turned.transpose(2, 3).float(), atol=1e-5)
    assert x.grad is not None
    assert y.grad is not None
    assert torch.allclose(x.grad, y.grad.transpose(2, 3).float(), atol=1e-4)


def test_gradients_of_what_was_shifted() -> None:
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    line = torch.randn(3, dtype=torch.float64, requires_grad=True)
    places = torch.tensor([2, 0])
    rows = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda a: a.roll((1, -2), (0, 1)), x)
    assert check(lambda a: a.roll(-5), x)
    assert check(lambda a: torch.diag_embed(a, -1, 0, 2), x)
    assert check(lambda a: torch.diag(a, 2), line)
    assert check(lambda a, b: a.index_copy(0, places, b), (x, rows))
    assert check(lambda a: a.index_fill(1, places, 3.0), x)
    square = torch.randn(2, 2, dtype=torch.float64, requires_grad=True)
    assert check(lambda a, b: a.put(torch.tensor([[1, 7], [0, -1]]), b), (x, square))
    assert check(lambda a, b: a.put(torch.tensor([[1, 1], [0, -1]]), b, accumulate=True), (x, square))
