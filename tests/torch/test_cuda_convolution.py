"""Convolutions on CUDA by kernels of our own, some by cuDNN, too: operands and results beside the CPU's in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from convolution_cases import CASES, DTYPES, Case, assert_close, compute_all, convolve, make_numbers, make_operands

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


@pytest.fixture(autouse=True)
def _own_kernels() -> Iterator[None]:
    with torch.backends.cudnn.flags(enabled=False, allow_tf32=False):
        yield


@pytest.fixture(params=["cudnn", "products"])
def _each_way(_own_kernels: None, request: pytest.FixtureRequest) -> None:
    if request.param == "cudnn" and not torch.backends.cudnn.is_available():
        pytest.skip("libtorch-cuda is built without cuDNN")
    torch.backends.cudnn.enabled = request.param == "cudnn"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str, dtype: torch.dtype) -> None:
    case = CASES[name]
    operands = make_operands(case, dtype)
    expected = compute_all(case, *(operand.double() for operand in operands))
    actual = compute_all(case, *(operand.cuda() for operand in operands))
    for mine, truth in zip(actual, expected, strict=True):
        assert_close(mine, truth, dtype)


@pytest.mark.usefixtures("_each_way")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_layouts_and_places_of_operands(dtype: torch.dtype) -> None:
    case = Case((2, 8, 6, 5), (16, 8, 3, 3), (1, 1), (1, 1), (1, 1))
    image, weight = make_numbers((2, 8, 6, 6), dtype, 0), make_numbers(case.weight, dtype, 1)
    expected = convolve(case, image[..., 1:].double(), weight.double(), None)
    last = image.cuda().to(memory_format=torch.channels_last)
    out = convolve(case, last[..., 1:], weight.cuda(), None)
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert_close(out, expected, dtype)
    # At no multiple of 16 bytes, which rows of channels are read by.
    shifted = torch.zeros(image.numel() + 1, dtype=dtype).cuda()[1:].view(2, 6, 6, 8).permute(0, 3, 1, 2)
    shifted.copy_(image)
    same = Case((2, 8, 6, 6), *case[1:])
    assert_close(
        convolve(same, shifted, weight.cuda(), None), convolve(same, image.double(), weight.double(), None), dtype
    )


@pytest.mark.usefixtures("_each_way")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_kernels_of_one_element_channels_last(dtype: torch.dtype) -> None:
    case = Case((2, 8, 6, 5), (16, 8, 1, 1), (1, 1), (0, 0), (1, 1))
    operands = make_operands(case, dtype)
    expected = compute_all(case, *(operand.double() for operand in operands))
    image, weight, bias = (operand.cuda() for operand in operands)
    actual = compute_all(case, image.to(memory_format=torch.channels_last), weight, bias)
    assert actual[0].is_contiguous(memory_format=torch.channels_last)
    for mine, truth in zip(actual, expected, strict=True):
        assert_close(mine, truth, dtype)


@pytest.mark.skipif(not torch.cuda.is_tf32_supported(), reason="a device without TF32")
@pytest.mark.parametrize("size", [1, 3])
def test_tf32_drops_bits_of_operands_if_allowed(size: int) -> None:
    """By both ways, of which one is a matrix product of cuBLAS."""
    barely = torch.full((1, 4, 5, 5), 1 + 2.0**-12, device="cuda")
    weight = torch.zeros(4, 4, size, size, device="cuda")
    weight[range(4), range(4), size // 2, size // 2] = 1
    exact = torch.nn.functional.conv2d(barely, weight, padding=size // 2)
    assert (exact == barely).all()
    torch.backends.cudnn.conv.fp32_precision = "tf32"  # _own_kernels takes it back
    assert (torch.nn.functional.conv2d(barely, weight, padding=size // 2) == 1).all()
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    assert (torch.nn.functional.conv2d(barely, weight, padding=size // 2) == barely).all()


@pytest.mark.skipif(not torch.cuda.is_tf32_supported(), reason="a device without TF32")
@pytest.mark.parametrize("name", CASES)
def test_tf32_values_and_gradients(name: str) -> None:
    """Operands are rounded to 10 bits behind the point, and products of them summed in float32."""
    torch.backends.cudnn.allow_tf32 = True
    case = CASES[name]
    operands = make_operands(case, torch.float32)
    expected = compute_all(case, *(operand.double() for operand in operands))
    for mine, truth in zip(compute_all(case, *(operand.cuda() for operand in operands)), expected, strict=True):
        scale = truth.abs().max().clamp(min=1).item()
        torch.testing.assert_close(mine.cpu().double() / scale, truth / scale, rtol=0, atol=2.0**-9)


@pytest.mark.usefixtures("_each_way")
def test_nothing_to_add_up() -> None:
    empty, bias = torch.zeros(2, 0, 4).cuda(), torch.ones(3).cuda()
    assert torch.equal(torch.nn.functional.conv1d(empty, torch.zeros(3, 0, 2).cuda(), bias).cpu(), torch.ones(2, 3, 3))
    weight = torch.ones(2, 3, 2).cuda().requires_grad_()
    torch.nn.functional.conv1d(torch.zeros(0, 3, 4).cuda(), weight).sum().backward()
    assert not weight.grad.any()
