"""Random numbers of CUDA devices are PyTorch's for a seed, and so is where the generator stands afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_draws import CASES, draw

import torch
from torch.nn import functional

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

GOLDEN = np.load(Path(__file__).parent / "golden" / "cuda_draws.npz")
# Made by the device's fast approximations, or by a sine and a logarithm: without a GPU they are the host's.
ROUNDED = ("randn", "exponential", "cauchy", "log_normal", "gumbel")


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_pytorch(name: str) -> None:
    drawn, expected = draw(name), GOLDEN[name]
    assert drawn[:2].tolist() == expected[:2].tolist()
    if not name.startswith(ROUNDED):
        assert drawn.tolist() == expected.tolist()
    elif "bfloat16" in name:
        np.testing.assert_allclose(drawn, expected, rtol=2**-7)
    else:  # a tangent next to a pole has few digits
        np.testing.assert_allclose(drawn, expected, rtol=2e-4 if name.startswith("cauchy") else 2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(16,), (4, 6), (3, 2), (7,), (5, 129), (0,)])
def test_dropout_and_its_gradient(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape, device="cuda").to(dtype).add_(1).requires_grad_()
    out = functional.dropout(x, 0.25)
    kept = out.detach() != 0
    expected = x.detach().double() * kept * (1 / 0.75)
    torch.testing.assert_close(out.detach().double(), expected, rtol=2**-7 if dtype.itemsize == 2 else 1e-6, atol=0)
    grad = torch.rand_like(x)
    (result,) = torch.autograd.grad(out, [x], grad)
    assert result.dtype is dtype
    expected = grad.double() * kept * (1 / 0.75)
    torch.testing.assert_close(result.double(), expected, rtol=2**-7 if dtype.itemsize == 2 else 1e-6, atol=0)


def test_dropout_of_other_layouts() -> None:
    base = torch.rand(6, 10, device="cuda") + 1
    for x in (base.t(), base[:, ::2], base[1:, 1:].t(), base.t()[:, :5], base[:1].expand(4, 10)):
        out, kept = torch.native_dropout(x, 0.5, True)
        assert kept.dtype is torch.bool
        assert out.shape == kept.shape == x.shape
        assert torch.equal(out, x * kept * 2)
        grad = torch.rand(x.shape[::-1], device="cuda").t()
        leaf = x.detach().requires_grad_()
        out = functional.dropout(leaf, 0.5)
        out.backward(grad)
        assert torch.equal(leaf.grad, grad * (out != 0) * 2)


def test_dropout_of_all_and_of_none() -> None:
    x = torch.ones(8, device="cuda", requires_grad=True)
    assert functional.dropout(x, 0.0) is x
    assert functional.dropout(x, 1.0).eq(0).all()
    assert functional.dropout(x, 0.5, training=False) is x
    out, kept = torch.native_dropout(x, 0.5, False)
    assert torch.equal(out, x)
    assert kept.all()
    out.sum().backward()
    assert x.grad.eq(1).all()


def test_dropout_keeps_a_mask_of_one_byte() -> None:
    x = torch.ones(1000, device="cuda", requires_grad=True)
    sizes: list[int] = []

    def pack(tensor: Any) -> Any:
        sizes.append(tensor.numel() * tensor.element_size())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        functional.dropout(x, 0.5)
    assert sizes == [1000]


def test_permutations_with_equal_keys() -> None:
    # Of 20 seeds some have keys of 7 bits that are equal.
    for seed in range(20):
        torch.manual_seed(seed)
        assert torch.randperm(6, device="cuda").sort()[0].tolist() == list(range(6))
    assert torch.randperm(0, device="cuda").tolist() == []
    assert torch.randperm(40_000, device="cuda").sort()[0].equal(torch.arange(40_000, device="cuda"))


def test_draws_of_rows_follow_their_weights() -> None:
    weights = torch.tensor([[0.0, 1.0, 0.0, 3.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]], device="cuda")
    drawn = torch.multinomial(weights, 300, replacement=True).cpu()
    counts = [(drawn[0] == place).sum().item() for place in range(5)]
    assert counts[0] == counts[2] == counts[4] == 0
    assert 40 < counts[1] < 110
    assert drawn[1].eq(0).all()
