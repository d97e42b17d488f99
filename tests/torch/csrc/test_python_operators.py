"""The operators of Python's syntax, where PyTorch computes them in a way of its own."""

from __future__ import annotations

import pytest

import torch


def test_a_number_by_a_tensor_has_pytorchs_digits() -> None:
    """It is the number times the reciprocal, which is rounded before."""
    assert (3 / torch.tensor([7.0, 49.0])).tolist() == [0.4285714626312256, 0.061224490404129028]
    assert (3 / torch.tensor([7, 49])).tolist() == [0.4285714626312256, 0.061224490404129028]
    assert (2**0.5 / torch.tensor([0.5**0.5])).item() == 1.9999998807907104


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
def test_a_number_by_a_tensor_is_its_reciprocal_times_the_number(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.rand(1000, dtype=dtype).add(0.01).requires_grad_()
    quotient = 3 / x
    assert quotient.equal(x.reciprocal() * 3)
    assert quotient.dtype == dtype
    assert str(quotient.grad_fn).startswith("<MulBackward0")
    (gradient,) = torch.autograd.grad(quotient.sum().real, x)
    torch.testing.assert_close(gradient, (-3 / (x * x)).conj().detach(), rtol=8 * torch.finfo(dtype).eps, atol=0)
