"""Kernels over whole rows, channels and planes: short and long ones, at no multiple of 16 bytes, empty ones.

They give the same bits each time, and what the CPU answers; of float16 and bfloat16, of the same numbers in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

FLOATING = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
# Of one row: a few threads, a warp, a block's registers, and more than these; odd ones are read one by one.
WIDTHS = [1, 5, 24, 96, 1024, 1027, 2304]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def _random(*sizes: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*sizes, generator=generator, dtype=torch.float64).to(dtype)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype == torch.float64 else tensor.float()


def _compare(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> None:
    """Values and gradients of a function of CPU tensors, with those on the device; twice, for the same bits."""
    dtype = inputs[0].dtype
    wide = [_wide(tensor).clone().requires_grad_() for tensor in inputs]
    expected = function(*wide)
    slopes = _random(*expected.shape, dtype=dtype, seed=7)
    wanted = torch.autograd.grad(expected, wide, _wide(slopes), allow_unused=True)
    answers = []
    for _ in range(2):
        given = [torch.empty_like(tensor, device="cuda").copy_(tensor).requires_grad_() for tensor in inputs]
        result = function(*given)
        found = torch.autograd.grad(result, given, slopes.cuda(), allow_unused=True)
        answers.append([result, *(gradient for gradient in found if gradient is not None)])
    scale = TOLERANCE[dtype]
    for first, again, right in zip(*answers, [expected, *(one for one in wanted if one is not None)], strict=True):
        assert torch.equal(first, again)
        assert first.dtype == dtype
        greatest = float(right.abs().max()) if right.numel() else 1.0
        torch.testing.assert_close(_wide(first.cpu()), right, rtol=scale, atol=scale * max(greatest, 1.0))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_layer_norm(width: int, dtype: torch.dtype) -> None:
    rows, weight, bias = _random(5, width, dtype=dtype), _random(width, dtype=dtype), _random(width, dtype=dtype)
    _compare(lambda x, w, b: functional.layer_norm(x, (width,), w, b), rows, weight, bias)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_layer_norm_of_a_row_that_no_registers_hold(dtype: torch.dtype) -> None:
    width = 8200
    rows = _random(2, width, dtype=dtype)
    _compare(lambda x: functional.layer_norm(x, (width,)), rows)
    _compare(lambda x: functional.rms_norm(x, (width,)), rows)
    _compare(lambda x: x.softmax(1) * width, rows)


def test_layer_norm_of_nothing() -> None:
    rows = torch.zeros(0, 8, device="cuda", requires_grad=True)
    weight = torch.ones(8, device="cuda", requires_grad=True)
    functional.layer_norm(rows, (8,), weight).sum().backward()
    assert rows.grad is not None
    assert rows.grad.shape == (0, 8)
    assert weight.grad is not None
    assert weight.grad.tolist() == [0.0] * 8


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("log", [False, True])
def test_softmax(log: bool, dtype: torch.dtype) -> None:
    function = torch.log_softmax if log else torch.softmax
    for width in WIDTHS:
        _compare(lambda x: function(x, 1), 4 * _random(3, width, dtype=dtype))
    for sizes in ((2, 5, 3), (3, 40, 33), (1, 200, 2)):  # along columns
        _compare(lambda x: function(x, 1), 4 * _random(*sizes, dtype=dtype))


def test_softmax_of_what_is_no_number() -> None:
    infinity = float("inf")
    rows = torch.tensor([[-infinity, 0, -infinity, 0], [-infinity] * 4, [0, float("nan"), 1, 2]])
    torch.testing.assert_close(rows.cuda().softmax(1).cpu(), rows.softmax(1), equal_nan=True)
    columns = rows.t().contiguous()
    torch.testing.assert_close(columns.cuda().log_softmax(0).cpu(), columns.log_softmax(0), equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("sizes", [(4, 6), (3, 5, 7), (2, 8, 8, 4), (2, 3, 40, 40), (70, 9)], ids=str)
def test_batch_norm(sizes: tuple[int, ...], dtype: torch.dtype) -> None:
    channels = sizes[1]
    images, weight, bias = (_random(*shape, dtype=dtype) for shape in (sizes, (channels,), (channels,)))
    _compare(lambda x, w, b: functional.batch_norm(x, None, None, w, b, training=True), images, weight, bias)
    _compare(lambda x: functional.batch_norm(x, None, None, training=True), images)
    if len(sizes) != 4:
        return
    last = images.contiguous(memory_format=torch.channels_last)
    _compare(lambda x, w, b: functional.batch_norm(x, None, None, w, b, training=True), last, weight, bias)
    result = functional.batch_norm(last.cuda(), None, None, training=True)
    assert result.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_running_moments(dtype: torch.dtype) -> None:
    images = _random(6, 5, 3, 3, dtype=dtype) + 2
    here, there = torch.nn.BatchNorm2d(5), torch.nn.BatchNorm2d(5).cuda()
    version = there.running_mean._version
    expected, result = here(images.float()), there(images.cuda())
    torch.testing.assert_close(result.float().cpu(), expected, rtol=1e-2, atol=2e-2)
    assert there.running_mean._version > version
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(there, name).cpu(), getattr(here, name), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(
        there.eval()(images.cuda()).float().cpu(), here.eval()(images.float()), rtol=1e-2, atol=2e-2
    )
    _compare(
        lambda x: functional.batch_norm(x, here.running_mean.to(x), here.running_var.to(x), training=False), images
    )


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_group_norm(dtype: torch.dtype) -> None:
    for sizes, groups in (((2, 6, 5), 3), ((3, 8, 4, 4), 2), ((1, 4, 30, 30), 4)):
        weight, bias = _random(sizes[1], dtype=dtype), _random(sizes[1], dtype=dtype)
        images = _random(*sizes, dtype=dtype)
        _compare(lambda x, w, b: functional.group_norm(x, groups, w, b), images, weight, bias)  # noqa: B023
        if len(sizes) == 4:
            last = images.contiguous(memory_format=torch.channels_last)
            _compare(lambda x, w, b: functional.group_norm(x, groups, w, b), last, weight, bias)  # noqa: B023


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_variance(dtype: torch.dtype) -> None:
    tensor = _random(3, 4, 5, 16, dtype=dtype)
    for values in (tensor, tensor.transpose(1, 3), tensor[:, 1:, 2:4, 1:]):
        there = (
            values.cuda()
            if values.is_contiguous()
            else tensor.cuda().as_strided(values.shape, values.stride(), values.storage_offset())
        )
        for dims in (None, 0, 1, 3, (0, 1), (2, 3), (0, 2, 3), (0, 3), (1, 2)):
            for keepdim in (dims == 1, True):
                expected = torch.var_mean(_wide(values), dims, correction=1, keepdim=keepdim)
                found = torch.var_mean(there, dims, correction=1, keepdim=keepdim)
                for one, right in zip(found, expected, strict=True):
                    torch.testing.assert_close(_wide(one.cpu()), right, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
        deviation = there.std(-1, correction=0)
        torch.testing.assert_close(
            _wide(deviation.cpu()), _wide(values).std(-1, correction=0), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
        )


def test_variance_far_from_zero() -> None:
    rows = (_random(3, 5000, dtype=torch.float64) * 0.01 + 1e4).float()
    torch.testing.assert_close(rows.cuda().var(1).cpu(), rows.double().var(1).float(), rtol=1e-4, atol=0)
    columns = rows.t().contiguous()
    torch.testing.assert_close(columns.cuda().var(0).cpu(), columns.double().var(0).float(), rtol=1e-4, atol=0)


def test_variance_of_few() -> None:
    one = torch.ones(2, 1, device="cuda")
    assert one.var(1).isnan().all()
    assert one.var(1, correction=0).tolist() == [0.0, 0.0]
    assert torch.zeros(2, 0, device="cuda").var(1).isnan().all()
    rows = torch.ones(2, 3, device="cuda").requires_grad_()
    rows.var().backward()
    assert rows.grad is not None
    assert rows.grad.abs().max().item() == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128], ids=str)
def test_transposed_copies(dtype: torch.dtype) -> None:
    for sizes, dims in (((70, 35), (1, 0)), ((16, 16), (1, 0)), ((3, 33, 40), (0, 2, 1)), ((20, 3, 34), (2, 1, 0)),
                        ((2, 17, 4, 8), (0, 2, 3, 1)), ((15, 40), (1, 0)), ((2, 18, 3, 20), (2, 3, 0, 1))):  # fmt: skip
        values = (torch.arange(torch.Size(sizes).numel()) * 7 % 251).to(dtype).view(sizes)
        turned = values.cuda().permute(dims)
        assert torch.equal(turned.contiguous().cpu(), values.permute(dims).contiguous())
        out = torch.zeros(values.permute(dims).shape, dtype=dtype, device="cuda")
        out[..., 1:].copy_(turned[..., 1:])
        assert torch.equal(out[..., 1:].cpu(), values.permute(dims)[..., 1:])
        assert not out[..., 0].any()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.complex128], ids=str)
def test_rows_by_index(dtype: torch.dtype) -> None:
    for width in (1, 3, 8, 20):
        table = (torch.arange(9 * width * 2) % 251).to(dtype).view(9, 2, width)
        there = table.cuda()
        places = torch.tensor([3, 0, 8, 3, -1])
        assert torch.equal(there[places.cuda()].cpu(), table[places])
        assert torch.equal(there[:, 1][places.cuda()].cpu(), table[:, 1][places])
        assert torch.equal(there.transpose(1, 2)[places.cuda()].cpu(), table.transpose(1, 2)[places])
        assert torch.equal(there[1:].index_select(0, places[:2].cuda()).cpu(), table[1:].index_select(0, places[:2]))
        both = (places.cuda(), torch.tensor([1, 0, 1, 1, 0], device="cuda"))
        assert torch.equal(there[both].cpu(), table[tuple(one.cpu() for one in both)])
        values = (torch.arange(2 * 2 * width) % 7).to(dtype).view(2, 2, width)
        there[places[1:3].cuda()] = values.cuda()
        table[places[1:3]] = values
        assert torch.equal(there.cpu(), table)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.complex64], ids=str)
def test_places_along_a_dimension(dtype: torch.dtype) -> None:
    def answers(values: torch.Tensor, places: torch.Tensor, dim: int) -> list[torch.Tensor]:
        read = values.gather(dim, places)
        written = torch.zeros_like(values).scatter_(dim, places, values)
        return [read, written, torch.zeros_like(values).scatter_add_(dim, places // 2, values)]

    for sizes, dim in (((5, 300), 1), ((300, 5), 0), ((7, 3, 70), 1), ((2, 9, 4, 33), 2), ((1030,), 0), ((3, 1), 0)):
        values = (torch.arange(torch.Size(sizes).numel()) % 61).to(dtype).view(sizes)
        order = _random(*sizes).argsort(dim)  # each place once
        last = len(sizes) - 1
        for turns in (False, True):  # all of it; a part; the same places for all of the first or the last dimension
            for part in (slice(None), slice(1, -1)):
                for alike in (0, last):
                    found = []
                    for x, places in ((values.cuda(), order.cuda()), (values, order)):
                        if alike != dim:
                            places = places.narrow(alike, 0, 1).expand(sizes)
                        if turns:
                            x, places = x.transpose(0, last), places.transpose(0, last)
                        along = {0: last, last: 0}.get(dim, dim) if turns else dim
                        found.append(answers(x, places[part], along))
                    for here, there in zip(*found, strict=True):
                        assert torch.equal(here.cpu(), there), (sizes, turns, part, alike)


@pytest.mark.parametrize("sizes", [(0,), (1,), (5,), (300,), (7, 40), (3, 5, 9)], ids=str)
def test_nonzero(sizes: tuple[int, ...]) -> None:
    flags = _random(*sizes) > 0.3
    for skipped in (0, 1):
        there = flags.cuda()[skipped:]
        assert torch.equal(there.nonzero().cpu(), flags[skipped:].nonzero())
    assert torch.zeros(sizes, device="cuda").nonzero().shape == (0, len(sizes))


SORTED = [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, *FLOATING]


@pytest.mark.parametrize("dtype", SORTED, ids=str)
def test_sorted_rows(dtype: torch.dtype) -> None:
    for size in (1, 6, 1024, 1030):
        values = (_random(3, size) * 20).to(dtype)
        if dtype.is_floating_point and size > 3:
            values[0, 1:4] = torch.tensor([float("nan"), 0.0, -0.0], dtype=dtype)
            values[1, 0], values[1, 2] = float("-inf"), float("inf")
        for descending in (False, True):
            expected = torch.sort(values, dim=1, descending=descending, stable=True)
            found = torch.sort(values.cuda(), dim=1, descending=descending, stable=True)
            assert torch.equal(found.indices.cpu(), expected.indices)
            assert torch.equal(found.values.cpu().nan_to_num(), expected.values.nan_to_num())
        if dtype != torch.bool:
            wanted = min(5, size)
            top = values.cuda().topk(wanted, 1)
            assert torch.equal(top.values.cpu().nan_to_num(), values.topk(wanted, 1).values.nan_to_num())
            assert torch.equal(values.cuda().gather(1, top.indices).nan_to_num(), top.values.nan_to_num())
    columns = _random(9, 4).to(dtype)
    assert torch.equal(columns.cuda().sort(dim=0, stable=True).indices.cpu(), columns.sort(dim=0, stable=True).indices)


def test_sorted_rows_that_no_block_holds() -> None:
    values = _random(2, 5000)
    assert torch.equal(values.cuda().sort(1).indices.cpu(), values.sort(1).indices)


DEPTHWISE = {
    "3 x 3": ((2, 8, 7, 9), (3, 3), {"padding": 1}),
    "3 x 3 stride 2": ((2, 6, 8, 7), (3, 3), {"padding": 1, "stride": 2}),
    "3 x 3 dilated": ((1, 8, 9, 9), (3, 3), {"padding": 2, "dilation": 2}),
    "5 x 2": ((2, 4, 8, 6), (5, 2), {"padding": (2, 0), "stride": (1, 2)}),
    "odd channels": ((3, 5, 6, 6), (3, 3), {}),
    "many places": ((2, 4, 40, 40), (3, 3), {"padding": 1}),
}


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("name", DEPTHWISE)
def test_depthwise_convolutions(name: str, dtype: torch.dtype) -> None:
    sizes, window, options = DEPTHWISE[name]
    channels = sizes[1]
    images, bias = _random(*sizes, dtype=dtype), _random(channels, dtype=dtype)
    weight = _random(channels, 1, *window, dtype=dtype)
    for image in (images, images.contiguous(memory_format=torch.channels_last)):
        _compare(lambda x, w, b: functional.conv2d(x, w, b, groups=channels, **options), image, weight, bias)
        _compare(lambda x, w, b: functional.conv_transpose2d(x, w, b, groups=channels, **options), image, weight, bias)


def test_depthwise_signals() -> None:
    _compare(lambda x, w: functional.conv1d(x, w, padding=2, groups=4), _random(3, 4, 11), _random(4, 1, 5))
