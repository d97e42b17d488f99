"""Convolutions on CUDA: every operand and result beside the CPU's in float64."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


class Case(NamedTuple):
    """Operands of a convolution; `more` is the output padding of the transposed one."""

    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    transposed: bool = False
    more: tuple[int, ...] = (0, 0, 0)


CASES = {
    "one of each": Case((1, 1, 1), (1, 1, 1), (1,), (0,), (1,)),
    "signals": Case((2, 4, 9), (6, 2, 3), (2,), (1,), (1,), 2),
    "images": Case((1, 2, 7, 6), (3, 2, 3, 2), (2, 1), (1, 0), (1, 2)),
    "volumes": Case((2, 2, 4, 5, 4), (4, 1, 2, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 2), 2),
    "more than a tile": Case((1, 9, 11, 13), (70, 9, 3, 3), (1, 1), (1, 1), (1, 1)),
    "a long depth": Case((1, 88, 4, 3), (5, 88, 3, 2), (1, 1), (1, 1), (1, 1)),
    "many positions": Case((1, 3, 22, 25), (4, 3, 2, 3), (1, 1), (0, 2), (1, 1)),
    "tiles of groups": Case((1, 6, 6, 5), (40, 3, 3, 3), (2, 1), (1, 1), (1, 1), 2),
    "channelwise": Case((2, 5, 8, 9), (10, 1, 3, 3), (1, 2), (1, 1), (2, 1), 5),
    "channelwise, many positions": Case((1, 2, 24, 25), (2, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "padding beyond the kernel": Case((1, 2, 4, 4), (3, 2, 2, 2), (3, 2), (3, 4), (1, 1)),
    "transposed signals": Case((2, 4, 7), (4, 3, 3), (2,), (1,), (1,), 2, True, (1,)),
    "transposed images": Case((2, 9, 5, 6), (9, 5, 3, 4), (2, 3), (1, 0), (1, 2), 1, True, (1, 2)),
    "transposed volumes": Case((1, 2, 3, 2, 3), (2, 2, 2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 1, 2), 2, True, (1, 0, 0)),
    "transposed, phases without an element": Case((1, 2, 4), (2, 1, 2), (4,), (0,), (2,), 1, True, (3,)),
    "transposed, more than a stride": Case((1, 2, 4), (2, 1, 2), (1,), (0,), (3,), 1, True, (2,)),
    "transposed channelwise": Case((2, 3, 5, 4), (3, 2, 3, 3), (2, 2), (1, 1), (1, 1), 3, True, (1, 0)),
    "kernels of one element": Case((2, 5, 4, 6), (7, 5, 1, 1), (1, 1), (0, 0), (1, 1)),
    "kernels of one element, strided": Case((2, 5, 4, 6), (7, 5, 1, 1), (2, 1), (0, 0), (1, 1)),
    "kernels of one element, padded": Case((2, 5, 4), (3, 5, 1), (1,), (1,), (1,)),
    "kernels of one element, groups": Case((2, 6, 4), (4, 3, 1), (1,), (0,), (1,), 2),
    "kernels of one element, volumes": Case((2, 3, 2, 3, 4), (4, 3, 1, 1, 1), (1, 1, 1), (0, 0, 0), (2, 1, 1)),
    "kernels of one element, transposed": Case((2, 5, 4, 6), (5, 7, 1, 1), (1, 1), (0, 0), (1, 1), 1, True),
    "kernels of one element, with more": Case((2, 5, 4, 6), (5, 7, 1, 1), (1, 1), (0, 0), (2, 2), 1, True, (1, 0)),
}


def _numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def _convolve(case: Case, *operands: torch.Tensor | None) -> torch.Tensor:
    more = case.more[: len(case.stride)]
    window = (case.stride, case.padding, case.dilation, case.transposed, more, case.groups)
    return torch.convolution(*operands, *window)


def _results(case: Case, *operands: torch.Tensor) -> list[torch.Tensor]:
    """The convolution, and the gradients of all its operands."""
    leaves = [operand.detach().requires_grad_() for operand in operands]
    out = _convolve(case, *leaves)
    grads = torch.autograd.grad(out, leaves, _numbers(tuple(out.shape), out.dtype, 3).to(out.device))
    return [out.detach(), *grads]


def _assert_close(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    assert actual.dtype == dtype
    scale = expected.abs().max().clamp(min=1).item()
    # Types of 16 bits are summed in float32 and rounded once.
    bound = (4 if dtype.itemsize == 2 else 32) * torch.finfo(dtype).eps
    torch.testing.assert_close(actual.cpu().double() / scale, expected / scale, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str, dtype: torch.dtype) -> None:
    case = CASES[name]
    channels = case.weight[1] * case.groups if case.transposed else case.weight[0]
    operands = [_numbers(shape, dtype, i) for i, shape in enumerate((case.input, case.weight, (channels,)))]
    expected = _results(case, *(operand.double() for operand in operands))
    actual = _results(case, *(operand.cuda() for operand in operands))
    for mine, truth in zip(actual, expected, strict=True):
        _assert_close(mine, truth, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_layouts_and_places_of_operands(dtype: torch.dtype) -> None:
    case = Case((2, 8, 6, 5), (16, 8, 3, 3), (1, 1), (1, 1), (1, 1))
    image, weight = _numbers((2, 8, 6, 6), dtype, 0), _numbers(case.weight, dtype, 1)
    expected = _convolve(case, image[..., 1:].double(), weight.double(), None)
    last = image.cuda().to(memory_format=torch.channels_last)
    out = _convolve(case, last[..., 1:], weight.cuda(), None)
    assert out.is_contiguous(memory_format=torch.channels_last)
    _assert_close(out, expected, dtype)
    # At no multiple of 16 bytes, which rows of channels are read by.
    shifted = torch.zeros(image.numel() + 1, dtype=dtype).cuda()[1:].view(2, 6, 6, 8).permute(0, 3, 1, 2)
    shifted.copy_(image)
    same = Case((2, 8, 6, 6), *case[1:])
    _assert_close(
        _convolve(same, shifted, weight.cuda(), None), _convolve(same, image.double(), weight.double(), None), dtype
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_kernels_of_one_element_channels_last(dtype: torch.dtype) -> None:
    operands = [_numbers(shape, dtype, i) for i, shape in enumerate(((2, 8, 6, 5), (16, 8, 1, 1), (16,)))]
    case = Case((2, 8, 6, 5), (16, 8, 1, 1), (1, 1), (0, 0), (1, 1))
    expected = _results(case, *(operand.double() for operand in operands))
    image, weight, bias = (operand.cuda() for operand in operands)
    actual = _results(case, image.to(memory_format=torch.channels_last), weight, bias)
    assert actual[0].is_contiguous(memory_format=torch.channels_last)
    for mine, truth in zip(actual, expected, strict=True):
        _assert_close(mine, truth, dtype)


@pytest.mark.skipif(not torch.cuda.is_tf32_supported(), reason="a device without TF32")
@pytest.mark.parametrize("size", [1, 3])
def test_tf32_drops_bits_of_operands_if_allowed(size: int) -> None:
    """By both ways, of which one is a matrix product of cuBLAS."""
    barely = torch.full((1, 4, 5, 5), 1 + 2.0**-12, device="cuda")
    weight = torch.zeros(4, 4, size, size, device="cuda")
    weight[range(4), range(4), size // 2, size // 2] = 1
    exact = torch.nn.functional.conv2d(barely, weight, padding=size // 2)
    assert (exact == barely).all()
    torch.backends.cudnn.conv.fp32_precision = "tf32"  # _exact takes it back
    assert (torch.nn.functional.conv2d(barely, weight, padding=size // 2) == 1).all()
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    assert (torch.nn.functional.conv2d(barely, weight, padding=size // 2) == barely).all()


@pytest.mark.skipif(not torch.cuda.is_tf32_supported(), reason="a device without TF32")
@pytest.mark.parametrize("name", CASES)
def test_tf32_values_and_gradients(name: str) -> None:
    """Operands are rounded to 10 bits behind the point, and products of them summed in float32."""
    torch.backends.cudnn.allow_tf32 = True
    case = CASES[name]
    channels = case.weight[1] * case.groups if case.transposed else case.weight[0]
    shapes = (case.input, case.weight, (channels,))
    operands = [_numbers(shape, torch.float32, i) for i, shape in enumerate(shapes)]
    expected = _results(case, *(operand.double() for operand in operands))
    for mine, truth in zip(_results(case, *(operand.cuda() for operand in operands)), expected, strict=True):
        scale = truth.abs().max().clamp(min=1).item()
        torch.testing.assert_close(mine.cpu().double() / scale, truth / scale, rtol=0, atol=2.0**-9)


def test_nothing_to_add_up() -> None:
    empty, bias = torch.zeros(2, 0, 4).cuda(), torch.ones(3).cuda()
    assert torch.equal(torch.nn.functional.conv1d(empty, torch.zeros(3, 0, 2).cuda(), bias).cpu(), torch.ones(2, 3, 3))
    weight = torch.ones(2, 3, 2).cuda().requires_grad_()
    torch.nn.functional.conv1d(torch.zeros(0, 3, 4).cuda(), weight).sum().backward()
    assert not weight.grad.any()
