"""Element types on a CUDA device that few programs use, or that are kept in 16 bits and computed in 32."""

from __future__ import annotations

import pytest

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

HALVES = [torch.float16, torch.bfloat16]
F = torch.nn.functional


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_random_numbers_in_16_bits(dtype: torch.dtype) -> None:
    x = torch.ones(20, 25, dtype=dtype, device="cuda")
    for function in (F.dropout, F.alpha_dropout, F.feature_alpha_dropout):
        result = function(x, 0.5, True)
        assert result.dtype == dtype
        assert 2 <= len(result.unique()) <= 4
    assert F.dropout3d(x.view(2, 25, 10, 1, 1), 0.5).count_nonzero().item() % 10 == 0
    kept = torch.empty_like(x).bernoulli_(0.25)
    assert kept.unique().tolist() == [0, 1]
    assert 50 < kept.sum(dtype=torch.float32).item() < 200
    assert torch.empty_like(x.t()).bernoulli_(1.0).bool().all()
    drawn = torch.randint_like(x, 3, 9)
    assert drawn.dtype == dtype
    assert drawn.unique().tolist() == [3, 4, 5, 6, 7, 8]
    torch.manual_seed(1)
    wide = torch.randint_like(x, 9, dtype=torch.float32)
    torch.manual_seed(1)
    assert torch.equal(torch.randint_like(x, 9).float(), wide)
    query = torch.ones(1, 4, 8, dtype=dtype, device="cuda")
    assert F.scaled_dot_product_attention(query, query, query, dropout_p=0.5).dtype == dtype


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_windows_are_added_up_in_float(dtype: torch.dtype, groups: int) -> None:
    torch.manual_seed(0)
    image = torch.randn(3, 4, 9, 7).to(dtype)
    weight = torch.randn(4, 6 // groups, 3, 3).to(dtype)

    def answer(device: str, computing: torch.dtype) -> list[torch.Tensor]:
        x, w = (each.to(device, computing).requires_grad_() for each in (image, weight))
        result = F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=groups)
        backward = F.conv2d(result, w[:, : 6 // groups], stride=2, padding=1, groups=groups)
        gradients = torch.autograd.grad(backward.float().sum(), [x, w])
        return [each.detach().cpu().to(dtype) for each in (result, *gradients)]

    exact, found = answer("cpu", torch.float32), answer("cuda", dtype)
    # Rounded once: half of the last of 11 or 8 bits.
    torch.testing.assert_close(found[0], exact[0], rtol=2**-10 if dtype == torch.float16 else 2**-7, atol=1e-6)
    for ours, wanted in zip(found[1:], exact[1:], strict=True):
        torch.testing.assert_close(ours, wanted, rtol=4e-2, atol=4e-2 * wanted.abs().max().item())


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_many_additions_to_one_place_are_rounded_once(dtype: torch.dtype) -> None:
    values = torch.full((1000,), 0.01, dtype=dtype)
    place = torch.zeros(1000, dtype=torch.int64)
    added = torch.ones(2, dtype=dtype, device="cuda").index_put_((place.cuda(),), values.cuda(), accumulate=True)
    torch.testing.assert_close(added.cpu(), torch.tensor([1 + values.double().sum().item(), 1]).to(dtype))
    table = torch.zeros(3, 4, dtype=dtype, device="cuda").t()
    table.index_put_((place.cuda(), place.cuda() + 2), values.cuda(), accumulate=True)
    torch.testing.assert_close(table[0, 2].item(), values.double().sum().item(), rtol=1e-2, atol=0)
    weight = torch.zeros(5, 2, dtype=dtype, device="cuda", requires_grad=True)
    F.embedding(place.cuda(), weight).backward(values.cuda()[:, None].expand(-1, 2))
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad[0].cpu(), values.double().sum().expand(2).to(dtype))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_running_logarithms_of_sums_of_complex_numbers(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = 3 * torch.randn(3, 260, dtype=dtype)
    x[1, 0] = complex(float("-inf"), 0)
    x[2, 3] = complex(800, 1)
    for dim in (0, 1):
        actual, wanted = torch.logcumsumexp(x.cuda(), dim).cpu(), torch.logcumsumexp(x, dim)
        torch.testing.assert_close(actual.exp(), wanted.exp(), rtol=1e-4, atol=1e-4, equal_nan=True)
        torch.testing.assert_close(actual.real, wanted.real)
    ours = x[:, :4].cuda().requires_grad_()
    (gradient,) = torch.autograd.grad(torch.logcumsumexp(ours, 1).abs().sum(), ours)
    theirs = x[:, :4].clone().requires_grad_()
    (wanted,) = torch.autograd.grad(torch.logcumsumexp(theirs, 1).abs().sum(), theirs)
    torch.testing.assert_close(gradient.cpu(), wanted, equal_nan=True)


def test_places_lie_dimension_by_dimension() -> None:
    x = torch.tensor([[0, 1, 0], [2, 0, 3]], device="cuda")
    for function in (torch.nonzero, torch.argwhere):
        places = function(x)
        assert places.tolist() == [[0, 1], [1, 0], [1, 2]]
        assert places.stride() == (1, 3)
    assert torch.nonzero(torch.tensor(3, device="cuda")).shape == (1, 0)
    assert [each.tolist() for each in torch.nonzero(x, as_tuple=True)] == [[0, 1, 1], [1, 0, 2]]
    assert x[x > 0].tolist() == [1, 2, 3]


def test_windows_of_integers_are_refused_by_name() -> None:
    image = torch.ones(1, 2, 5, 5, dtype=torch.int64, device="cuda")
    weight = torch.ones(2, 2, 3, 3, dtype=torch.int64, device="cuda")
    for function, name in ((F.conv2d, "convolution"), (F.conv_transpose2d, "convolution_transposed")):
        with pytest.raises(NotImplementedError, match=f"\"{name}\" not implemented for 'Long'"):
            function(image, weight)
    with pytest.raises(NotImplementedError, match="\"im2col_out_cuda\" not implemented for 'Long'"):
        F.unfold(image, 3)
