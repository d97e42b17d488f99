"""Convolutions of sizes that take every path: direct, by tiles within images and over several, pointwise, transposed.

What they are compared with is made of other operators, and is itself compared with PyTorch's answers in `golden/`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch._C import _nn

if TYPE_CHECKING:
    from collections.abc import Iterator

# input, weight, stride, padding, dilation, groups
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, Any, Any, int]] = {
    "direct": ((3, 4, 9, 11), (7, 4, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "direct, wide kernel": ((2, 3, 30, 70), (5, 3, 5, 4), (1, 1), (0, 3), (1, 1), 1),
    "direct, dilated, in groups": ((2, 6, 12, 12), (4, 3, 3, 2), (1, 1), (2, 1), (2, 3), 2),
    "each channel": ((2, 6, 20, 20), (6, 1, 3, 3), (1, 1), (1, 1), (1, 1), 6),
    "each channel, steps": ((2, 6, 20, 21), (12, 1, 3, 3), (2, 3), (1, 1), (1, 1), 6),
    "each channel, steps of two": ((2, 40, 13, 37), (40, 1, 3, 3), (2, 2), (1, 1), (1, 1), 40),
    "each channel, dilated, narrow": ((2, 33, 9, 5), (33, 1, 3, 2), (1, 1), (2, 1), (2, 1), 33),
    "pointwise": ((3, 8, 10, 10), (5, 8, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "pointwise, padded": ((3, 8, 10, 10), (5, 8, 1, 1), (1, 1), (1, 2), (1, 1), 1),
    "pointwise, several small images": ((70, 8, 2, 2), (5, 8, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "steps, several images in a tile": ((67, 3, 6, 6), (4, 3, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    "steps, several tiles in an image": ((2, 16, 120, 120), (4, 16, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    "one image": ((1, 3, 40, 40), (9, 3, 3, 3), (2, 2), (0, 1), (1, 1), 1),
    "kernel larger than the image": ((2, 2, 2, 3), (3, 2, 5, 5), (1, 1), (2, 2), (1, 1), 1),
    "padding larger than the kernel": ((2, 2, 4, 4), (3, 2, 2, 2), (1, 1), (3, 2), (1, 1), 1),
    "signal": ((4, 3, 100), (6, 3, 7), (3,), (5,), (2,), 1),
    "signal, direct": ((4, 3, 100), (6, 3, 7), (1,), (3,), (1,), 1),
    "volume": ((2, 2, 5, 6, 7), (3, 2, 2, 3, 3), (1, 2, 1), (1, 0, 1), (2, 1, 1), 1),
    "volume, direct": ((2, 2, 5, 6, 7), (3, 2, 2, 3, 3), (1, 1, 1), (1, 0, 1), (2, 1, 1), 1),
    "wide": ((3, 33, 9, 11), (37, 33, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "wide, steps, in groups": ((5, 40, 14, 13), (80, 20, 3, 2), (2, 3), (1, 2), (1, 1), 2),
    "wide, dilated, deep": ((2, 50, 8, 8), (70, 50, 3, 3), (1, 1), (1, 1), (2, 1), 1),
    "wide, pointwise": ((2, 20, 9, 9), (40, 20, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "wide, pointwise, steps": ((2, 20, 9, 9), (40, 20, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    "wide, steps larger than the kernel": ((2, 20, 11, 11), (24, 20, 2, 2), (3, 3), (0, 0), (1, 1), 1),
    "wide, padding larger than the kernel": ((2, 20, 4, 4), (36, 20, 2, 2), (1, 1), (3, 2), (1, 1), 1),
    "wide signal": ((4, 18, 100), (19, 18, 7), (3,), (5,), (2,), 1),
    "eight in a group": ((2, 32, 9, 11), (32, 8, 3, 3), (1, 1), (1, 1), (1, 1), 4),
    "four in each group": ((2, 32, 9, 11), (32, 4, 3, 3), (1, 1), (1, 1), (1, 1), 8),
    "two in each group, steps": ((3, 48, 8, 13), (48, 2, 3, 2), (2, 1), (1, 0), (1, 2), 24),
    "four in a group": ((2, 12, 9, 11), (20, 3, 3, 3), (1, 2), (1, 1), (1, 1), 4),
    "three quarters of a panel": ((2, 12, 9, 10), (24, 12, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    "patches": ((2, 3, 16, 24), (40, 3, 4, 4), (4, 4), (0, 0), (1, 1), 1),
    "patches, padded": ((2, 3, 16, 20), (24, 3, 3, 6), (2, 4), (1, 2), (1, 1), 1),
    "wide, one image": ((1, 18, 20, 13), (37, 18, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    "wide, one image of odd height": ((1, 18, 9, 13), (37, 18, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "wide, pointwise, many results": ((2, 20, 24, 25), (40, 20, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "each channel, small": ((2, 70, 7, 7), (70, 1, 3, 3), (1, 1), (1, 1), (1, 1), 70),
    "wide volume": ((2, 18, 5, 6, 7), (20, 18, 2, 3, 3), (1, 2, 1), (1, 0, 1), (2, 1, 1), 1),
    "one window": ((5, 7, 3, 4), (6, 7, 3, 4), (1, 1), (0, 0), (1, 1), 1),
    "one window, steps": ((2, 20, 5, 5), (33, 20, 5, 5), (2, 3), (0, 0), (1, 1), 1),
    "one window, volume": ((3, 4, 2, 3, 2), (5, 4, 2, 3, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
    "one window, in groups": ((3, 4, 3, 3), (6, 2, 3, 3), (1, 1), (0, 0), (1, 1), 2),
    "each channel, volume": ((2, 8, 5, 6, 7), (8, 1, 3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 8),
    "each channel, a vector and more": ((2, 24, 9, 23), (24, 1, 3, 3), (1, 1), (1, 1), (1, 1), 24),
    "each channel, two vectors and more": ((3, 72, 11, 18), (72, 1, 5, 5), (2, 2), (2, 2), (1, 1), 72),
    "each channel, far between": ((4, 56, 40, 130), (56, 1, 3, 3), (1, 1), (1, 1), (1, 1), 56),
    "each channel, steps larger than the kernel": ((2, 50, 9, 17), (50, 1, 2, 2), (3, 3), (0, 0), (1, 1), 50),
    "colours": ((2, 3, 9, 11), (17, 3, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    "one colour": ((2, 1, 9, 11), (18, 1, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "pointwise, many places": ((2, 20, 24, 25), (5, 20, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "pointwise, many places, in groups": ((2, 20, 26, 24), (4, 5, 1, 1), (1, 1), (0, 0), (1, 1), 4),
    "pointwise, two results": ((2, 20, 9, 9), (2, 20, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "the width at once": ((3, 1, 9, 20), (18, 1, 3, 20), (2, 1), (1, 0), (1, 1), 1),
    "the width at once, a few results": ((2, 1, 5, 9), (3, 1, 2, 9), (1, 3), (0, 0), (1, 1), 1),
    "the width of a volume at once": ((2, 1, 4, 5, 6), (17, 1, 2, 3, 6), (1, 1, 1), (1, 0, 0), (1, 2, 1), 1),
    "the height at once": ((2, 3, 6, 40), (18, 3, 6, 3), (1, 2), (0, 1), (1, 1), 1),
    "the height at once, in groups": ((2, 4, 5, 12), (8, 1, 5, 1), (1, 1), (0, 0), (1, 1), 4),
    "all but the width at once": ((2, 2, 3, 4, 9), (5, 2, 3, 4, 2), (1, 1, 1), (0, 0, 0), (1, 1, 3), 1),
    "wide signal, one of odd length": ((1, 18, 101), (19, 18, 7), (3,), (5,), (2,), 1),
    "wide signal, one of even length": ((1, 18, 40), (19, 18, 3), (1,), (1,), (1,), 1),
    "wide volume, one of odd height": ((1, 18, 4, 5, 7), (20, 18, 2, 3, 3), (1, 2, 1), (1, 1, 1), (1, 1, 1), 1),
    "results sorted by what they read": ((2, 33, 17, 18), (24, 33, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "results sorted by what they read, steps": ((2, 34, 29, 30), (20, 34, 3, 3), (2, 2), (1, 2), (1, 1), 1),
    "pointwise, panels of places, in groups": ((2, 72, 17, 18), (40, 36, 1, 1), (1, 1), (0, 0), (1, 1), 2),
    "wide, pointwise, steps, in groups": ((2, 40, 9, 11), (80, 20, 1, 1), (2, 3), (0, 0), (1, 1), 2),
    "each channel, eight places": ((2, 40, 8, 8), (40, 1, 3, 3), (1, 1), (1, 1), (1, 1), 40),
    "nothing": ((0, 2, 5, 5), (3, 2, 3, 3), (1, 1), (0, 0), (1, 1), 1),
}


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def windows(image: torch.Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> torch.Tensor:
    """(N, groups, channels of a group * elements, windows)"""
    if len(kernel) == 1:  # signals are images of one line
        image, kernel, stride = image.unsqueeze(-2), (1, *kernel), (1, *stride)
        padding, dilation = (0, *padding), (1, *dilation)
    columns = _nn.im2col(image, kernel, dilation, padding, stride)
    return columns.reshape(image.size(0), groups, columns.size(1) // groups, columns.size(2))


def convolve_by_windows(
    input: torch.Tensor, weight: torch.Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> torch.Tensor:
    """A convolution as a product with the matrix of windows."""
    columns = windows(input, weight.shape[2:], stride, padding, dilation, groups)
    result = torch.matmul(weight.reshape(groups, weight.size(0) // groups, -1), columns)
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    counts = [(size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, p, d in sizes]
    return result.reshape(input.size(0), weight.size(0), *counts) + bias.reshape(-1, *[1] * len(counts))


def transpose_by_windows(
    input: torch.Tensor, weight: torch.Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> torch.Tensor:
    """A transposed convolution: the gradient of an ordinary one, which is a product and col2im."""
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    image = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, k, s, p, d in sizes]
    rows = weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2)
    columns = torch.matmul(rows, input.reshape(input.size(0), groups, input.size(1) // groups, -1)).flatten(1, 2)
    kernel = tuple(weight.shape[2:])
    if len(image) == 1:
        options = ((1, *image), (1, *kernel), (1, *dilation), (0, *padding), (1, *stride))
        result = _nn.col2im(columns, *options).squeeze(-2)
    else:
        result = _nn.col2im(columns, image, kernel, dilation, padding, stride)
    return result + bias.reshape(-1, *[1] * len(image))


def gradients(result: torch.Tensor, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    slopes = torch.arange(result.numel(), dtype=result.dtype).reshape(result.shape).cos()
    return list(torch.autograd.grad((result * slopes).sum(), inputs))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(CASES, (torch.float64, torch.float32))))
def test_convolution(name: str, dtype: torch.dtype) -> None:
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    input = torch.randn(size, dtype=dtype, requires_grad=True)
    weight = torch.randn(weight_size, dtype=dtype, requires_grad=True)
    bias = torch.randn(weight_size[0], dtype=dtype, requires_grad=True)
    extra = [0] * len(stride)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-3, "atol": 2e-3}
    expected = convolve_by_windows(input, weight, bias, stride, padding, dilation, groups)
    actual = torch.convolution(input, weight, bias, stride, padding, dilation, False, extra, groups)
    torch.testing.assert_close(actual, expected, **tolerance)
    for ours, theirs in zip(
        gradients(actual, [input, weight, bias]), gradients(expected, [input, weight, bias]), strict=True
    ):
        torch.testing.assert_close(ours, theirs, **tolerance)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("padding larger than the kernel", "nothing")])
def test_transposed_convolution(name: str) -> None:
    """Of the sizes that the ordinary one would give."""
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    image = torch.randn(size, dtype=torch.float64)
    weight = torch.randn(weight_size, dtype=torch.float64, requires_grad=True)
    extra = [0] * len(stride)
    shape = torch.convolution(image, weight, None, stride, padding, dilation, False, extra, groups).shape
    input = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(size[1], dtype=torch.float64, requires_grad=True)
    expected = transpose_by_windows(input, weight, bias, stride, padding, dilation, groups)
    actual = torch.convolution(input, weight, bias, stride, padding, dilation, True, extra, groups)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(
        gradients(actual, [input, weight, bias]), gradients(expected, [input, weight, bias]), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case[0]) == 4 and name != "nothing"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("weight_last", [False, True])
def test_channels_last(name: str, transposed: bool, weight_last: bool) -> None:
    """The same numbers, and strides that say so."""
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    image = torch.randn(size, dtype=torch.float64)
    weight = torch.randn(weight_size, dtype=torch.float64, requires_grad=True)
    options: tuple[Any, ...] = (stride, padding, dilation, transposed, [0, 0], groups)
    if transposed:
        image = torch.randn_like(
            torch.convolution(image, weight, None, stride, padding, dilation, False, [0, 0], groups)
        )
        if name == "padding larger than the kernel":
            return
    bias = torch.randn(size[1] if transposed else weight_size[0], dtype=torch.float64, requires_grad=True)
    plain = image.clone().requires_grad_()
    last = image.to(memory_format=torch.channels_last).requires_grad_()
    expected = torch.convolution(plain, weight, bias, *options)
    factors = weight.detach().to(memory_format=torch.channels_last).requires_grad_() if weight_last else weight
    actual = torch.convolution(last, factors, bias, *options)
    assert actual.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-10)
    wanted, found = gradients(expected, [plain, weight, bias]), gradients(actual, [last, factors, bias])
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case[0]) > 3 and name != "nothing"])
def test_channels_last_in_float32(name: str) -> None:
    """Kernels of their own, with gradients."""
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    image, weight, bias = (torch.randn(shape, dtype=torch.float64) for shape in (size, weight_size, weight_size[:1]))
    layout = torch.channels_last if image.dim() == 4 else torch.channels_last_3d
    options = (stride, padding, dilation, False, [0] * len(stride), groups)
    for addend in (None, bias):
        results = []
        for last in (False, True):
            leaves = [tensor.float().contiguous(memory_format=layout) if last else tensor for tensor in (image, weight)]
            leaves = [leaf.clone().requires_grad_() for leaf in leaves]
            found = torch.convolution(*leaves, addend.float() if last and addend is not None else addend, *options)
            slopes = torch.linspace(-1, 1, found.numel(), dtype=torch.float64).reshape(found.shape).to(found.dtype)
            results.append([found, *torch.autograd.grad(found, leaves, slopes)])
        for expected, actual in zip(*results, strict=True):
            scale = expected.abs().max().item()
            torch.testing.assert_close(actual.double() / scale, expected / scale, rtol=0, atol=1e-5)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", [name for name in CASES if name != "nothing"])
def test_bfloat16(name: str, last: bool) -> None:
    """Sums are float32's, rounded once."""
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    image, weight, bias = (torch.randn(shape).bfloat16() for shape in (size, weight_size, weight_size[:1]))
    if last and image.dim() > 3:
        layout = torch.channels_last if image.dim() == 4 else torch.channels_last_3d
        image, weight = image.to(memory_format=layout), weight.to(memory_format=layout)
    options = (stride, padding, dilation, False, [0] * len(stride), groups)
    expected = torch.convolution(image.float(), weight.float(), bias.float(), *options)
    torch.testing.assert_close(
        torch.convolution(image, weight, bias, *options).float(), expected, rtol=2**-8, atol=2e-2
    )
    slopes = torch.randn_like(expected).bfloat16()
    inputs = [tensor.requires_grad_() for tensor in (image, weight)]
    wide = [tensor.detach().float().requires_grad_() for tensor in (image, weight)]
    found = torch.autograd.grad(torch.convolution(inputs[0], inputs[1], None, *options), inputs, slopes)
    wanted = torch.autograd.grad(torch.convolution(wide[0], wide[1], None, *options), wide, slopes.float())
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours.float(), theirs, rtol=2**-7, atol=4e-2)


INFINITE = [
    *("patches", "patches, padded", "each channel, small", "wide, one image", "colours", "eight in a group"),
    *("each channel, two vectors and more", "each channel, a vector and more", "four in each group"),
]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", INFINITE)
def test_infinities_stay_where_they_are_read(name: str, last: bool) -> None:
    """Nothing beside a window is multiplied, not even by 0."""
    size, weight_size, stride, padding, dilation, groups = CASES[name]
    image, weight = torch.randn(size), torch.randn(weight_size)
    image[0, 1, 5, 5] = image[-1, 0, 0, 0] = float("inf")
    image[0, 2, -1, -1] = float("nan")
    options = (stride, padding, dilation, False, [0] * len(stride), groups)
    expected = convolve_by_windows(
        image.double(), weight.double(), torch.zeros(weight_size[0]).double(), *options[:3], groups
    )
    for dtype in (torch.float32, torch.bfloat16):
        layout = torch.channels_last if last else torch.contiguous_format
        operands = [tensor.to(dtype).contiguous(memory_format=layout) for tensor in (image, weight)]
        found = torch.convolution(*operands, None, *options)
        assert torch.equal(found.isfinite(), expected.isfinite())


def test_many_images_are_computed_as_each_of_them() -> None:
    """More than are computed together."""
    images, weight = torch.randn(44, 128, 14, 14), torch.randn(64, 128, 3, 3)
    whole = torch.nn.functional.conv2d(images, weight, padding=1)
    parts = [torch.nn.functional.conv2d(some, weight, padding=1) for some in images.split(4)]
    torch.testing.assert_close(whole, torch.cat(parts), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    ("dimensions", "options"), [(1, (2, 1, 2)), (2, ((2, 1), 1, (1, 2), 2)), (2, (3,)), (3, (1, (0, 1, 1)))]
)
def test_gradients_alone(dimensions: int, options: tuple[Any, ...]) -> None:
    """torch.nn.grad, which computes no result and can be differentiated."""
    groups = options[3] if len(options) > 3 else 1
    image = torch.randn(1, 2, *(5, 4, 3)[:dimensions], dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 2 // groups, *(3, 2, 2)[:dimensions], dtype=torch.float64, requires_grad=True)
    result = getattr(torch.nn.functional, f"conv{dimensions}d")(image, weight, None, *options)
    slopes = torch.randn_like(result).requires_grad_()
    expected = torch.autograd.grad(result, (image, weight), slopes)
    by_input = getattr(torch.nn.grad, f"conv{dimensions}d_input")
    by_weight = getattr(torch.nn.grad, f"conv{dimensions}d_weight")
    torch.testing.assert_close(by_input(image.shape, weight, slopes, *options), expected[0])
    torch.testing.assert_close(by_weight(image, weight.shape, slopes, *options), expected[1])
    assert torch.autograd.gradcheck(lambda w, g: by_input(image.shape, w, g, *options), (weight, slopes))
    assert torch.autograd.gradcheck(lambda x, g: by_weight(x, weight.shape, g, *options), (image, slopes))


def test_gradients_of_gradients() -> None:
    input = torch.randn(2, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 1, 3, 2, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, dtype=torch.float64, requires_grad=True)

    def convolve(*tensors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(*tensors, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)

    assert torch.autograd.gradcheck(convolve, (input, weight, bias))
    assert torch.autograd.gradgradcheck(convolve, (input, weight, bias))


def test_integers_and_views() -> None:
    input, weight = torch.arange(48).reshape(1, 3, 4, 4), torch.arange(54).reshape(2, 3, 3, 3)
    expected = torch.nn.functional.conv2d(input.double(), weight.double())
    assert torch.equal(torch.nn.functional.conv2d(input, weight).double(), expected)
    turned = torch.randn(4, 5, 3, 2).permute(3, 2, 0, 1)
    spread = torch.randn(6, 3, 2, 4)[:, :, :, ::2]
    whole = torch.nn.functional.conv2d(turned.contiguous(), spread.contiguous())
    assert torch.equal(torch.nn.functional.conv2d(turned, spread), whole)


@pytest.mark.parametrize(
    ("input", "weight", "options", "message"),
    [
        (
            (1, 2, 5, 5),
            (4, 3, 3, 3),
            {},
            r"expected input\[1, 2, 5, 5\] to have 3 channels, but got 2 channels instead",
        ),
        ((1, 3, 2, 2), (4, 3, 3, 3), {}, r"padded input size per channel: \(2 x 2\)\. Kernel size: \(3 x 3\)"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"stride": 0}, "non-positive stride is not supported"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": -1}, "negative padding is not supported"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"dilation": 0}, "dilation should be greater than zero"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"stride": (1, 1, 1)}, "list of 2 values"),
        ((1, 4, 5, 5), (3, 2, 3, 3), {"groups": 2}, "divisible"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"bias": torch.zeros(3)}, "1-dimensional with 4 elements"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"bias": torch.zeros(4).double()}, "Input type .float. and bias type .double."),
    ],
)
def test_errors(input: tuple[int, ...], weight: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.nn.functional.conv2d(torch.zeros(input), torch.zeros(weight), **options)
