"""What is computed in one pass where no gradient is asked for: the same numbers as with one, in every layout."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

import torch
from torch.nn import functional

Function = Callable[[torch.Tensor], torch.Tensor]


def signals(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(2, 3, -1)


FUNCTIONS: dict[str, Function] = {
    "threshold": lambda x: functional.threshold(x, 0.25, -7.0),
    "hardshrink": lambda x: functional.hardshrink(x, 0.4),
    "softsign": functional.softsign,
    "softshrink": lambda x: functional.softshrink(x, 0.4),
    "prelu": lambda x: functional.prelu(x, torch.tensor([0.25], dtype=x.dtype)),
    "prelu of channels": lambda x: functional.prelu(x, torch.linspace(-1, 2, 3, dtype=x.dtype)),
    "lerp by weights": lambda x: torch.lerp(x, x.detach().flip(0), x.detach().abs()),
    "max_pool1d": lambda x: functional.max_pool1d(signals(x), 3, 2, 1),
    "max_pool1d, one by one": lambda x: functional.max_pool1d(signals(x), 3, 1, 1, dilation=1),
    "max_pool1d, far": lambda x: functional.max_pool1d(signals(x), 2, 3, 0, dilation=2, ceil_mode=True),
    "max_pool2d": lambda x: functional.max_pool2d(x, 2),
    "max_pool2d, overlapping": lambda x: functional.max_pool2d(x, (3, 2), (1, 2), (1, 0)),
    "max_pool3d": lambda x: functional.max_pool3d(x, 2, 1, 1),
    "pad, reflected": lambda x: functional.pad(x, (3, 1, 0, 2), mode="reflect"),
    "pad, repeated": lambda x: functional.pad(x, (4, 0, 1, 2), mode="replicate"),
    "pad, around": lambda x: functional.pad(x, (3, 8, 6, 1), mode="circular"),
    "pad, less": lambda x: functional.pad(x, (2, -1, 0, 2), mode="replicate"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_with_and_without_gradient(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 6, 8).to(dtype)
    x[0, 1, 2, 3], x[1, 0, 0, 0], x[1, 2, 5, 7] = float("nan"), float("inf"), -0.0
    for layout in (x, x.contiguous(memory_format=torch.channels_last), x.transpose(2, 3).contiguous().transpose(2, 3)):
        plain = FUNCTIONS[name](layout)
        recorded = FUNCTIONS[name](layout.clone().requires_grad_()).detach()
        assert torch.equal(plain.nan_to_num(99), recorded.nan_to_num(99))
        dense = FUNCTIONS[name](layout.contiguous())
        assert torch.equal(plain.nan_to_num(99), dense.nan_to_num(99))
        assert plain.shape != layout.shape or name.startswith("max") or plain.stride() == layout.stride()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["threshold", "hardshrink", "softshrink"])
def test_gradients_of_what_is_cut_off(name: str, dtype: torch.dtype) -> None:
    """1 where the input counts, borders and NaN as in PyTorch; also of parts of vectors and of columns."""
    inside = {"threshold": (-float("inf"), 0.25), "hardshrink": (-0.5, 0.5), "softshrink": (-0.5, 0.5)}[name]
    arguments = (0.25, -7.0) if name == "threshold" else (0.5,)
    borders = torch.tensor([0.25, -0.25, 0.5, -0.5, 0.0, -0.0, float("nan"), float("inf")])
    x = torch.cat([torch.randn(90), borders]).to(dtype)
    for part in (x, x[3:], x.reshape(2, 49).t(), x[::5]):
        leaf = part.detach().clone().requires_grad_()
        gradient = torch.randn(leaf.shape).to(dtype)
        getattr(functional, name)(leaf, *arguments).backward(gradient)
        assert leaf.grad is not None
        lost = (part >= inside[0]) & (part <= inside[1])
        assert torch.equal(leaf.grad, gradient.masked_fill(lost, 0))


@pytest.mark.parametrize("name", ["mse_loss", "huber_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_of_differences_by_their_parts(name: str, reduction: str) -> None:
    """Their values and both gradients, in float64, broadcast and of columns; and the gradients' own gradients."""
    torch.manual_seed(0)
    losses = {
        "mse_loss": lambda x: x * x,
        "huber_loss": lambda x: torch.where(x.abs() < 1, x * x / 2, x.abs() - 0.5),
        "smooth_l1_loss": lambda x: torch.where(x.abs() < 1, x * x / 2, x.abs() - 0.5),
    }
    x = torch.randn(7, 13, dtype=torch.float64)
    for a, b in ((x, x.flip(0)), (x.t().contiguous().t(), torch.randn(13).double()), (x[:, ::2], x[:, :7])):
        given = [side.clone().requires_grad_() for side in (a, b)]
        parts = [side.clone().requires_grad_() for side in (a, b)]
        result = getattr(functional, name)(*torch.broadcast_tensors(*given), reduction=reduction)
        each = losses[name](parts[0] - parts[1])
        expected = each if reduction == "none" else getattr(each, reduction)()
        assert torch.allclose(result, expected)
        weight = torch.randn_like(expected)
        gradients = torch.autograd.grad(result, given, weight, create_graph=True)
        wanted_gradients = torch.autograd.grad(expected, parts, weight)
        for actual, wanted in zip(gradients, wanted_gradients, strict=True):
            assert torch.allclose(actual, wanted)
        result = getattr(functional, name)(*torch.broadcast_tensors(*given), reduction=reduction)
        for actual, wanted in zip(torch.autograd.grad(result, given, weight), gradients, strict=True):
            assert torch.allclose(actual, wanted)


@pytest.mark.parametrize("classes", [1, 6, 8, 15, 16, 17, 33])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_multilabel_margin_loss_of_rows_of_any_length(classes: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(classes)
    rows = [[-1] * classes, list(range(classes)), torch.randint(classes, (classes,), generator=generator).tolist()]
    for count in (0, 1, classes // 2):
        rows.append([*torch.randint(classes, (count,), generator=generator).tolist(), -1, *[0] * classes][:classes])
    target = torch.tensor(rows)
    x = torch.randn(len(rows), classes, dtype=dtype, generator=generator).requires_grad_()
    parts = []
    for row, numbers in zip(x, rows, strict=True):
        named = numbers[: [*numbers, -1].index(-1)]
        others = [i for i in range(classes) if i not in named]
        parts.append((1 - row[named].unsqueeze(1) + row[others]).clamp_min(0).sum() / classes)
    expected = torch.stack(parts)
    losses = functional.multilabel_margin_loss(x, target, reduction="none")
    torch.testing.assert_close(losses, expected)
    torch.testing.assert_close(torch.vmap(functional.multilabel_margin_loss)(x, target), expected)
    weight = torch.rand(len(rows), dtype=dtype, generator=generator)
    slopes = torch.autograd.grad(expected, x, weight, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(losses, x, weight), slopes)
    for reduction in ("mean", "sum"):
        loss = functional.multilabel_margin_loss(x.T.contiguous().T, target.T.contiguous().T, reduction=reduction)
        wanted = getattr(expected, reduction)()
        torch.testing.assert_close(loss, wanted)
        slopes = torch.autograd.grad(wanted, x, retain_graph=True)
        torch.testing.assert_close(torch.autograd.grad(loss, x), slopes)


def test_multilabel_margin_loss_has_pytorchs_errors_and_counts_no_nan() -> None:
    x, target = torch.randn(2, 3), torch.tensor([[0, -1, 0], [-1, 0, 0]])
    loss = functional.multilabel_margin_loss
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Int"):
        loss(x, target.int())
    with pytest.raises(RuntimeError, match=r"inconsistent target size: \[2, 2\] for input of size: \[2, 3\]"):
        loss(x, target[:, :2])
    for bad in (target + 3, target - 1):
        with pytest.raises(RuntimeError, match="argument #2 'target' is out of range"):
            loss(x, bad)
    with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix"):
        loss(x[:, :0], target[:, :0])
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        loss(x.long(), target)
    assert loss(x[:0], target[:0], reduction="none").shape == (0,)
    assert loss(x[0, 0], target[0, 0]).shape == ()
    special = torch.tensor([0.5, float("nan"), 0.25])
    assert loss(special, target[0]).item() == 0.25


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 4), (2, 5, 3, 4), (1, 5, 1, 1), (5,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss_reads_scores_wherever_they_lie(shape: tuple[int, ...], dtype: torch.dtype, weighted: bool) -> None:
    generator = torch.Generator().manual_seed(len(shape))
    x = torch.randn(shape, generator=generator).to(dtype)
    target = torch.randint(-1, 5, (*shape[:1], *shape[2:]) if len(shape) > 1 else (), generator=generator)
    weight = torch.rand(5, generator=generator).to(dtype) if weighted else None
    dim = 0 if len(shape) == 1 else 1
    one_hot = (torch.arange(5).view(5, *[1] * (len(shape) - 1 - dim)) == target.unsqueeze(dim)).to(dtype)
    factors = one_hot if weight is None else one_hot * weight.view(5, *[1] * (len(shape) - 1 - dim))
    expected = -(factors * x).sum(dim)
    wider = torch.zeros(*shape[:-1], 2 * shape[-1], dtype=dtype)
    wider[..., ::2] = x
    for given in (x, wider[..., ::2], x.transpose(0, -1).contiguous().transpose(0, -1)):
        scores = given.detach().requires_grad_()
        losses = functional.nll_loss(scores, target, weight, ignore_index=-1, reduction="none")
        torch.testing.assert_close(losses, expected)
        torch.testing.assert_close(torch.autograd.grad(losses.sum(), scores)[0], -factors)
        mean = functional.nll_loss(scores, target, weight, ignore_index=-1)
        if int((target >= 0).sum()):
            torch.testing.assert_close(mean, (expected.double().sum() / factors.double().sum()).to(dtype))
    assert functional.nll_loss(x, torch.full_like(target, -1), weight, ignore_index=-1).isnan()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 16, 17, 31, 32, 33, 63, 64, 65])
def test_kron_and_columns_times_rows_of_any_length(dtype: torch.dtype, length: int) -> None:
    one, other = torch.randn(3, 4, dtype=dtype), torch.randn(5, length, dtype=dtype)
    expected = (one[:, None, :, None] * other[None, :, None]).reshape(15, 4 * length)
    assert torch.equal(torch.kron(one, other), expected)
    assert torch.equal(torch.kron(one.T.contiguous().T, other.T.contiguous().T), expected)
    assert torch.equal(torch.kron(one.requires_grad_(), other), expected)
    assert torch.equal(torch.kron(one[0], other[0]), expected[0])
    assert torch.equal(torch.kron(one[0, 0], other[0]), (one[0, 0] * other[0]))
    column, row = torch.randn(600, 1, dtype=dtype), other[:1]
    expected = column.expand(600, length).contiguous() * row.expand(600, length).contiguous()
    assert torch.equal(column * row, expected)
    assert torch.equal(column @ row, expected)
    assert torch.equal(torch.mm(column, row, out=torch.empty(0, dtype=dtype)), expected)
    assert torch.equal((column < row), column.expand(600, length).contiguous() < row)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("eps", [None, 0.25])
def test_gradient_of_logit(dtype: torch.dtype, eps: float | None) -> None:
    x = torch.tensor([-1.0, -0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0, 2.0, float("nan")] * 3, dtype=dtype)
    x.requires_grad_()
    weight = torch.randn(30).to(dtype)
    (slope,) = torch.autograd.grad(torch.logit(x, eps), x, weight)
    low = eps or 0
    outside = (x < low) | (x > 1 - low)
    expected = (weight / (x * (1 - x))).masked_fill(outside, 0 if eps else float("nan"))
    torch.testing.assert_close(slope, expected, equal_nan=True)
    (again,) = torch.autograd.grad(torch.logit(x, eps), x, weight, create_graph=True)
    torch.testing.assert_close(again, slope, equal_nan=True)
    inside = torch.full((3,), 0.375, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda a: torch.logit(a, eps), inside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log1p_is_nan_below_minus_one(dtype: torch.dtype) -> None:
    below = np.nextafter(-1, -2, dtype=str(dtype).removeprefix("torch."))
    values = [-np.inf, -2.0, float(below), -1.0, -0.5, -0.0, 0.0, 1e-30, np.nan, 2.0, np.inf, 1e30]
    for shift in range(17):
        x = torch.tensor([0.5] * shift + values, dtype=dtype)
        with np.errstate(all="ignore"):
            expected = torch.from_numpy(np.log1p(x.numpy()))
        torch.testing.assert_close(x.log1p(), expected, equal_nan=True)
        assert math.copysign(1, x.log1p()[shift + 5].item()) == -1


@pytest.mark.parametrize("requires_grad", [False, True])
def test_prelu_of_a_number_is_a_number(requires_grad: bool) -> None:
    result = functional.prelu(torch.tensor(-2.0, requires_grad=requires_grad), torch.tensor([0.25]))
    assert result.shape == ()
    assert result.item() == -0.5


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_bounds_of_halves(dtype: torch.dtype) -> None:
    """hardshrink rounds its bound to the type, threshold does not."""
    x = torch.full((20,), 0.3).to(dtype)  # rounded up by both
    assert torch.equal(functional.hardshrink(x, 0.3), torch.zeros_like(x))
    assert torch.equal(functional.threshold(x, 0.3, -7.0), x)


def test_padding_that_does_not_fit_is_refused_either_way() -> None:
    for x in (torch.ones(1, 2, 3), torch.ones(1, 2, 3, requires_grad=True)):
        with pytest.raises(RuntimeError, match="less than the corresponding input dimension"):
            functional.pad(x, (3, 0), mode="reflect")
        with pytest.raises(RuntimeError, match="wrapping around more than once"):
            functional.pad(x, (4, 0), mode="circular")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_signs_of_halves(dtype: torch.dtype) -> None:
    x = torch.cat((torch.randn(700), torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan")]))).to(dtype)
    for part in (x, x[::3], x.reshape(3, -1).t(), x.flip(0), x[-5:]):
        wide = part.float()
        for function in (torch.neg, torch.abs):
            assert torch.equal(function(part).nan_to_num(9), function(wide).to(dtype).nan_to_num(9))
            number = ~wide.isnan()
            assert torch.equal(function(part).signbit()[number], function(wide).signbit()[number])
            assert function(part).stride() == function(torch.empty_like(part)).stride()
        assert part.clone().neg_().equal(-part) or part.isnan().any()
        assert torch.equal(part.signbit(), wide.signbit())
    out = torch.empty(2, 0, dtype=torch.float32)
    torch.abs(x[:600], out=out.resize_(600))
    assert torch.equal(out, x[:600].float().abs())
    leaf = x[:600].clone().requires_grad_()
    leaf.abs().sum().backward()
    assert leaf.grad is not None
    assert torch.equal(leaf.grad, leaf.detach().sign())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_halves_that_lie_apart(dtype: torch.dtype) -> None:
    x = (torch.randn(40, 90) * 100).to(dtype)
    out = torch.zeros(40, 270, dtype=dtype)
    for view in (x[:, ::3], x.t(), x[::2, 1::2], x.flip(1)[:, ::4], x[:, :1].expand(40, 70)):
        dense = view.contiguous()
        assert torch.equal(view.float(), dense.float())
        assert torch.equal(view + 1, dense + 1)
        assert torch.equal(view.sum(0), dense.sum(0))
        target = out[: view.size(0), : 3 * view.size(1) : 3] if 3 * view.size(1) <= 270 else None
        if target is not None and target.shape == view.shape:
            torch.mul(view, 3, out=target)
            assert torch.equal(target, dense * 3)
            assert (out[:, 1::3] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_writing_by_index(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randint(-4, 5, (30, 40)).to(dtype)
    rows, columns = torch.randint(30, (50,)), torch.randint(40, (60,))
    expected = x.clone()
    expected[:, columns] = 3
    assert torch.equal(x.index_fill(1, columns, 3), expected)
    more = torch.randint(-4, 5, (30, 60)).to(dtype)
    added = x.clone()
    for place, column in enumerate(columns.tolist()):
        added[:, column] += more[:, place]
    assert torch.equal(x.index_add(1, columns, more), added)
    assert torch.equal(x.scatter_add(1, columns.expand(30, 60), more), added)
    few = x.clone().scatter_add_(1, columns[:3].expand(2, 3), more[:2, :3])  # much less than there is
    assert torch.equal(few[2:], x[2:])
    assert torch.equal(few[:2], x[:2].scatter_add(1, columns[:3].expand(2, 3), more[:2, :3]))
    sources = torch.randint(-9, 10, (50, 40)).to(dtype)
    greatest = x.clone()
    for place, row in enumerate(rows.tolist()):
        greatest[row] = torch.maximum(greatest[row], sources[place])
    assert torch.equal(x.index_reduce(0, rows, sources, "amax"), greatest)
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter_add(0, torch.full((2, 40), 30), x[:2])


@pytest.mark.parametrize("shape", [(5, 7, 11), (64, 3, 2), (2, 300, 16)])
def test_short_rows(shape: tuple[int, int, int]) -> None:
    """Rows of a few elements, a part of the first and of the last of which may be another thread's."""
    x, y = torch.randn(shape), torch.randn(shape[0], 1, shape[2])
    expected = torch.stack([x[i] * y[i].expand(shape[1], -1).contiguous() for i in range(shape[0])])
    assert torch.equal(x * y, expected)
    gap = torch.zeros(shape[0], shape[1] + 1, shape[2] + 2)[:, 1:, 1:-1]
    assert torch.equal(torch.mul(x, y, out=gap), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_gradients_of_means(dtype: torch.dtype) -> None:
    x = torch.randn(4, 6, 10).to(dtype).requires_grad_()
    (x.mean() + x.mean((0, 2)).sum() + x.mean(1, keepdim=True).sum()).backward()
    expected = (
        torch.full((), 1 / 240, dtype=dtype) + torch.full((), 1 / 40, dtype=dtype) + torch.full((), 1 / 6, dtype=dtype)
    )
    assert x.grad is not None
    assert torch.allclose(x.grad, expected.expand(4, 6, 10), rtol=1e-2 if dtype == torch.bfloat16 else 1e-6)


HELD: dict[str, Function] = {
    "hardtanh": lambda x: functional.hardtanh(x, -0.5, 0.75),
    "relu6": functional.relu6,
    "clamp": lambda x: x.clamp(-0.5, 0.75),
    "clamp to 0.3": lambda x: x.clamp(-0.3, 0.3),
    "clamp from below": lambda x: x.clamp(min=0.75),
    "clamp from above": lambda x: x.clamp(max=-0.5),
}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_gradients_of_what_is_held(name: str, dtype: torch.dtype) -> None:
    """In one pass, and by operators where that is differentiated again."""
    edges = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 6.0, -0.5, 0.75, 0.3, -0.3, 0.7578125, -0.50390625]
    x = torch.tensor(edges * 6, dtype=dtype).reshape(6, 12)
    for layout in (x, x.t(), x[:, ::2], x[:5, :11]):
        leaf = layout.detach().requires_grad_()
        incoming = torch.randn(leaf.shape).to(dtype)
        (at_once,) = torch.autograd.grad(HELD[name](leaf), leaf, incoming)
        (in_steps,) = torch.autograd.grad(HELD[name](leaf), leaf, incoming.requires_grad_(), create_graph=True)
        assert in_steps.requires_grad
        assert torch.equal(at_once, in_steps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int16], ids=str)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_cumulative_extremes(name: str, dtype: torch.dtype) -> None:
    """The last of equals; the last NaN from the first one on."""
    torch.manual_seed(0)
    x = torch.randint(-4, 4, (7, 33)).to(dtype)
    if dtype.is_floating_point:
        x[1, 5], x[1, 9], x[2, 0], x[3, 32] = (float("nan"),) * 4
        x[4, 3], x[4, 7] = float("inf"), -float("inf")
    for view, dim in ((x, 1), (x.t(), 0), (x, 0)):
        values, indices = getattr(torch, name)(view, dim)
        for line, found, places in zip(
            *(each.movedim(dim, 1).tolist() for each in (view, values, indices)), strict=True
        ):
            best, place = line[0], 0
            for i, value in enumerate(line):
                if value != value or (best == best and (value >= best if name == "cummax" else value <= best)):
                    best, place = value, i
                assert places[i] == place
                assert found[i] == best or (found[i] != found[i] and best != best)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_mantissas_and_exponents(dtype: torch.dtype) -> None:
    info = torch.finfo(dtype)
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan")], dtype=dtype)
    edges = torch.tensor([info.max, info.min, info.tiny, info.smallest_normal / 2, -info.tiny / 8], dtype=dtype)
    powers = torch.exp2(torch.arange(-20.0, 15, dtype=torch.float64)).to(dtype)
    x = torch.cat([special, edges, powers, -powers, torch.randn(1000).to(dtype)])
    mantissa, exponent = torch.frexp(x)
    assert (mantissa.dtype, exponent.dtype) == (dtype, torch.int32)
    wanted, powers_of_two = np.frexp(x.double().numpy())
    number = x.isfinite()
    assert np.array_equal(mantissa[number].double().numpy(), wanted[number])
    assert exponent[number].tolist() == powers_of_two[number].tolist()
    assert torch.equal(mantissa[2:4], x[2:4])
    assert mantissa[4].isnan()
    assert exponent[2:5].tolist() == [0, 0, 0]
    assert mantissa[:2].signbit().tolist() == [False, True]
    both = torch.frexp(x.reshape(2, -1).t())
    assert torch.equal(both.exponent, exponent.reshape(2, -1).t())
    steps = torch.frexp(x[number].clone().requires_grad_())
    assert torch.equal(steps.mantissa, mantissa[number])
    assert torch.equal(steps.exponent, exponent[number])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_shifts_are_those_of_whole_numbers(dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    places = [0, 1, info.bits - 2, info.bits - 1, info.bits, 100, info.max, *([-1, info.min] if info.min < 0 else [])]
    values = [0, 1, 3, info.max, info.min, info.min // 3]
    pairs = [(value, place) for value in values for place in places] * 3
    a, b = (torch.tensor(column, dtype=dtype) for column in zip(*pairs, strict=True))
    inside = [place if 0 <= place < info.bits else None for _, place in pairs]
    left = [0 if place is None else value << place for (value, _), place in zip(pairs, inside, strict=True)]
    wrapped = [(value - info.min) % (1 << info.bits) + info.min for value in left]
    right = [-(value < 0) if place is None else value >> place for (value, _), place in zip(pairs, inside, strict=True)]
    assert (a << b).tolist() == wrapped
    assert (a >> b).tolist() == right
    assert (a[::2] << b[::2]).tolist() == wrapped[::2]


def test_runs() -> None:
    nan = float("nan")
    x = torch.tensor([-0.0, 0.0, 1, 1, nan, nan, 2, 2, 2, 1])
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert str(values.tolist()) == "[-0.0, 1.0, nan, nan, 2.0, 1.0]"
    assert inverse.tolist() == [0, 0, 1, 1, 2, 3, 4, 4, 4, 5]
    assert counts.tolist() == [2, 2, 1, 1, 3, 1]
    assert values.untyped_storage().nbytes() == values.numel() * 4
    numbers = torch.randint(0, 3, (50, 20))
    for asked in ((False, False), (True, False), (False, True)):
        found = torch.unique_consecutive(numbers, *asked)
        flat = numbers.reshape(-1)
        begins = torch.cat([torch.ones(1, dtype=torch.bool), flat[1:] != flat[:-1]])
        wanted = flat[begins]
        assert torch.equal(found[0] if any(asked) else found, wanted)
        if asked[0]:
            assert torch.equal(found[1], (begins.long().cumsum(0) - 1).view(50, 20))
        if asked[1]:
            assert torch.equal(wanted.repeat_interleave(found[1]), flat)


@pytest.mark.parametrize("inner", [(), (3,), (2, 9), (0,)])
@pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_segments(dtype: torch.dtype, how: str, inner: tuple[int, ...]) -> None:
    data = torch.randn(2, 12, *inner, generator=torch.Generator().manual_seed(0)).to(dtype)
    if data.numel() > 0:
        data[0, 3] = math.nan
    for initial in (None, 0.5):
        for lengths in ([[3, 0, 9], [12, 0, 0]], [[4, 4, 4], [1, 1, 10]]):
            call = functools.partial(
                torch.segment_reduce, reduce=how, lengths=torch.tensor(lengths), axis=1, initial=initial
            )
            alone = call(data)
            recorded = call(data.clone().requires_grad_())
            assert recorded.requires_grad
            torch.testing.assert_close(alone, recorded.detach(), equal_nan=True)
            turned = data.transpose(0, 1).contiguous().transpose(0, 1)
            torch.testing.assert_close(call(turned), alone, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("size", [0, 1, 3, 100])
def test_products_with_conjugates(dtype: torch.dtype, size: int) -> None:
    a, b = torch.randn(2, 2 * size, dtype=dtype, generator=torch.Generator().manual_seed(size))
    for x, y in ((a, b), (a[::2], b[1::2])):
        alone = torch.vdot(x, y)
        recorded = torch.vdot(x.clone().requires_grad_(), y)
        assert recorded.requires_grad
        torch.testing.assert_close(alone, recorded.detach())
        torch.testing.assert_close(alone, (x.conj() * y).sum())
