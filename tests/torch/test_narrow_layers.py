"""Layers of a few channels, columns or places, which fill no vector: against formulas in float64."""

from __future__ import annotations

import pytest

import torch
import torch.nn.functional as F
from torch import Tensor

HALVES = [torch.bfloat16, torch.float16]
ALL = [torch.float32, torch.float64, *HALVES]


def _close(mine: Tensor, expected: Tensor) -> None:
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2e-2, torch.float16: 3e-3}[mine.dtype]
    torch.testing.assert_close(mine.double(), expected.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_norms_of_narrow_rows(width: int, dtype: torch.dtype) -> None:
    for rows in (1, 17, 1024 // width, 1024 // width + 1):
        x = torch.randn(rows, width).to(dtype)
        weight, bias = torch.randn(width).to(dtype), torch.randn(width).to(dtype)
        wide = x.double()
        rooted = wide * (wide.square().mean(1, keepdim=True) + 0.5).rsqrt()
        _close(F.rms_norm(x, (width,), eps=0.5), rooted)
        _close(F.rms_norm(x, (width,), weight, eps=0.5), rooted * weight.double())
        centred = wide - wide.mean(1, keepdim=True)
        normed = centred * (centred.square().mean(1, keepdim=True) + 0.5).rsqrt()
        _close(F.layer_norm(x, (width,), eps=0.5), normed)
        _close(F.layer_norm(x, (width,), weight, eps=0.5), normed * weight.double())
        _close(F.layer_norm(x, (width,), weight, bias, eps=0.5), normed * weight.double() + bias.double())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex128])
@pytest.mark.parametrize("shape", [(2, 3, 5, 2), (1, 1, 1, 1), (2, 2, 4, 15), (2, 2, 4, 16), (1, 2, 3, 17)])
def test_windows_of_narrow_images(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = (torch.randn(shape) * 5).to(dtype)
    batch, channels, height, width = shape
    padded = F.pad(x, (1, 1, 1, 1))
    parts = [padded[:, :, y : y + height, x0 : x0 + width] for y in range(3) for x0 in range(3)]
    expected = torch.stack(parts, 2).reshape(batch, channels * 9, height * width)
    columns = F.unfold(x, 3, padding=1)
    assert torch.equal(columns, expected)
    counts = F.fold(F.unfold(torch.ones_like(x), 3, padding=1), (height, width), 3, padding=1)
    torch.testing.assert_close(F.fold(columns, (height, width), 3, padding=1), x * counts, rtol=0.05, atol=0.1)
    assert torch.equal(F.unfold(x, 2, dilation=2, padding=2, stride=3)[..., 0][:, 3], x[:, 0, 0, 0])


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 15, 16, 17])
def test_pools_of_few_channels_that_lie_last(channels: int, dtype: torch.dtype) -> None:
    for shape in ((2, channels, 9, 50), (1, channels, 6, 6)):
        rows = torch.randn(shape).to(dtype)
        last = rows.contiguous(memory_format=torch.channels_last)
        for pool in (
            lambda x: F.max_pool2d(x, 3, 2, 1),
            lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
            lambda x: F.adaptive_max_pool2d(x, (4, 5)),
            lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
            lambda x: F.adaptive_avg_pool2d(x, (4, 5)),
        ):
            mine, expected = pool(last), pool(rows)
            assert mine.is_contiguous(memory_format=torch.channels_last)
            if mine.is_floating_point():
                _close(mine, expected)
            else:
                assert torch.equal(mine, expected)
        grads = []
        for x in (rows.clone().requires_grad_(), last.clone().requires_grad_()):
            (F.avg_pool2d(x, 3, 2) * 2).sum().backward()
            F.max_pool2d(x, 3, 2).sum().backward()
            assert x.grad is not None
            grads.append(x.grad)
        _close(grads[1], grads[0])
        assert grads[1].is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_kernels_of_one_element_over_single_channels(times: int, dtype: torch.dtype) -> None:
    for shape in ((2, 6, 5, 7), (1, 3, 1, 1), (3, 1, 4, 4)):
        channels = shape[1]
        weight, bias = torch.randn(channels * times, 1, 1, 1).to(dtype), torch.randn(channels * times).to(dtype)
        for memory_format in (torch.contiguous_format, torch.channels_last):
            x = torch.randn(shape).to(dtype).contiguous(memory_format=memory_format)
            product = x.double().repeat_interleave(times, 1) * weight.double().view(1, -1, 1, 1)
            added = product + bias.double().view(1, -1, 1, 1)
            mine = F.conv2d(x, weight, groups=channels)
            _close(mine, product)
            assert channels == 1 or mine.is_contiguous(memory_format=memory_format)
            _close(F.conv2d(x, weight, bias, groups=channels), added)
            if times == 1:
                _close(F.conv_transpose2d(x, weight, bias, groups=channels), added)
            _close(F.conv2d(x, weight, bias, 2, groups=channels), added[:, :, ::2, ::2])
            padded = F.conv2d(x, weight, bias, padding=1, groups=channels)
            _close(padded[:, :, 1:-1, 1:-1], added)
            _close(padded[:, :, 0, 0], bias.expand(shape[0], -1))
    # Strides that make the result as large as the image, which it is not read in order for.
    x = torch.randn(1, 2, 2, 2)
    ones = torch.ones(2, 1, 1, 1)
    assert torch.equal(F.conv2d(x, ones, stride=3, padding=1, groups=2), F.pad(x, (1, 1, 1, 1))[:, :, ::3, ::3])


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32])
def test_group_norm_of_channels_that_lie_last(dtype: torch.dtype) -> None:
    for shape, groups in (((2, 32, 9, 7), 8), ((1, 6, 3, 2), 3), ((3, 5, 1, 1), 1), ((2, 20, 40, 40), 4)):
        x = torch.randn(shape)
        x[:, 0] += 100
        x[:, 1, 0, 0] = 200.0  # the first place lies far from all others
        x = x.to(dtype).contiguous(memory_format=torch.channels_last)
        weight, bias = torch.randn(shape[1]).to(dtype), torch.randn(shape[1]).to(dtype)
        wide = F.group_norm(x.double().contiguous(), groups, weight.double(), bias.double())
        mine = F.group_norm(x, groups, weight, bias)
        torch.testing.assert_close(mine.double(), wide, rtol=2e-2, atol=2e-2 if dtype in HALVES else 1e-4)
        assert mine.is_contiguous(memory_format=torch.channels_last)
    infinite = torch.zeros(1, 4, 3, 3).contiguous(memory_format=torch.channels_last)
    infinite[0, 1, 0, 0] = float("inf")
    assert F.group_norm(infinite, 2).isnan()[0].flatten(1).all(1).tolist() == [True, True, False, False]


@pytest.mark.parametrize("dtype", ALL)
def test_products_of_thin_matrices(dtype: torch.dtype) -> None:
    for rows, depth, columns in ((31, 3, 2), (32, 3, 2), (33, 1, 4), (100, 8, 4), (64, 9, 3), (40, 2, 5), (300, 1, 7)):
        a, b = torch.randn(rows, depth).to(dtype), torch.randn(depth, columns).to(dtype)
        bias = torch.randn(columns).to(dtype)
        product = a.double() @ b.double()
        _close(a @ b, product)
        _close(a.T.contiguous().T @ b.T.contiguous().T, product)
        _close((b.T @ a.T).T, product)
        _close(torch.stack([a, a + 1]) @ torch.stack([b, b]), torch.stack([product, product + b.double().sum(0)]))
        _close(F.linear(a, b.T, bias), product + bias.double())
        _close(torch.addmm(bias, a, b, alpha=2), 2 * product + bias.double())
        _close(torch.addmm(bias, a, b, beta=0.5), product + bias.double() / 2)
        _close(torch.addmm(torch.full_like(bias, float("nan")), a, b, beta=0), product)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("filters", [1, 2, 8, 9])
def test_gradients_of_few_filters_of_one_element(filters: int, dtype: torch.dtype) -> None:
    for batch, channels, size in ((1, 8, 5), (3, 16, 7), (2, 3, 4), (2, 40, 1)):
        x, grad = torch.randn(batch, channels, size, size).to(dtype), torch.randn(batch, filters, size, size).to(dtype)
        expected = torch.einsum("nohw,nchw->oc", grad.double(), x.double()).view(filters, channels, 1, 1)
        for memory_format in (torch.contiguous_format, torch.channels_last):
            image, slope = (tensor.contiguous(memory_format=memory_format) for tensor in (x, grad))
            weight = torch.zeros(filters, channels, 1, 1, dtype=dtype, requires_grad=True)
            F.conv2d(image, weight).backward(slope)
            assert weight.grad is not None
            torch.testing.assert_close(weight.grad.double(), expected, rtol=2e-2, atol=0.2 if dtype in HALVES else 1e-4)


@pytest.mark.parametrize("channels", [1, 3, 4, 9, 32, 33, 128])
def test_kernels_of_one_element_over_places(channels: int) -> None:
    for batch, results, height, width in ((1, 1, 5, 6), (2, 2, 8, 4), (2, 7, 5, 7), (1, 15, 23, 23), (2, 40, 12, 11)):
        for groups in (1, 2):
            x = torch.randn(batch, channels * groups, height, width)
            weight, bias = torch.randn(results * groups, channels, 1, 1), torch.randn(results * groups)
            expected = F.conv2d(x.double(), weight.double(), bias.double(), groups=groups)
            torch.testing.assert_close(
                F.conv2d(x, weight, bias, groups=groups).double(), expected, rtol=1e-5, atol=1e-4
            )
            expected -= bias.view(-1, 1, 1)
            torch.testing.assert_close(F.conv2d(x, weight, groups=groups).double(), expected, rtol=1e-5, atol=1e-4)
    assert F.conv2d(torch.ones(1, 0, 8, 8), torch.ones(3, 0, 1, 1), torch.ones(3)).eq(1).all()


def test_few_results_at_few_places() -> None:
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        for results, size, stride in ((1, 3, 1), (2, 3, 2), (3, 6, 2), (15, 4, 1)):
            x, weight = torch.randn(3, 20, size, size).to(dtype), torch.randn(results, 20, 4, 4).to(dtype)
            expected = F.conv2d(x.double(), weight.double(), None, stride, 2)
            for memory_format in (torch.contiguous_format, torch.channels_last):
                image, kernel = (tensor.contiguous(memory_format=memory_format) for tensor in (x, weight))
                mine = F.conv2d(image, kernel, None, stride, 2)
                torch.testing.assert_close(mine.double(), expected, rtol=2e-2, atol=0.3 if dtype in HALVES else 1e-4)
                assert results == 1 or mine.is_contiguous(memory_format=memory_format)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_wide_windows_are_added_up_alike_in_few_planes_and_in_many(dtype: torch.dtype) -> None:
    for width, windows in ((31, 1), (32, 1), (100, 3), (97, 3), (500, 7)):
        x = torch.randn(20, 3, width, dtype=dtype)
        many = F.adaptive_avg_pool2d(x[:, None], (2, windows))[:, 0]
        alone = torch.stack([F.adaptive_avg_pool2d(plane[None, None], (2, windows))[0, 0] for plane in x])
        assert torch.equal(many, alone)
        edges = [(i * width // windows, -(-(i + 1) * width // windows)) for i in range(windows)]
        rows = [x[:, :2], x[:, 1:]]
        expected = torch.stack([torch.stack([row[..., a:b].mean((1, 2)) for a, b in edges], 1) for row in rows], 1)
        _close(many, expected)
        assert torch.equal(F.adaptive_max_pool1d(x, windows)[..., 0], x[..., : edges[0][1]].amax(-1))


@pytest.mark.parametrize("dtype", ALL)
def test_averages_of_single_elements(dtype: torch.dtype) -> None:
    for shape, size in (
        ((2, 3, 5), (20,)),
        ((3, 7), (14,)),
        ((2, 3, 4, 5), (8, 5)),
        ((2, 3, 3, 5), (9, 10)),
        ((1, 2, 2, 3, 1), (4, 3, 4)),
        ((4, 2, 3), (4, 12)),
    ):
        x = torch.randn(shape).to(dtype).requires_grad_()
        pool = getattr(F, f"adaptive_avg_pool{len(size)}d")
        mine = pool(x, size)
        expected = x.detach()
        for dim, length in zip(range(-len(size), 0), size, strict=True):
            expected = expected.repeat_interleave(length // expected.shape[dim], dim)
        assert torch.equal(mine, expected)
        mine.backward(torch.ones_like(mine))
        assert x.grad is not None
        assert x.grad.eq(mine.numel() / x.numel()).all()
    image = torch.randn(1, 8, 3, 3).contiguous(memory_format=torch.channels_last)
    assert F.interpolate(image, scale_factor=2, mode="area").is_contiguous(memory_format=torch.channels_last)
