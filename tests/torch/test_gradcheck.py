"""What gradcheck finds, and what it says then."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.gradcheck import GradcheckError

if TYPE_CHECKING:
    from torch import Tensor


def real() -> Tensor:
    return torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)


def complex_() -> Tensor:
    return torch.tensor([1.0 + 1.0j, 2.0], dtype=torch.complex128, requires_grad=True)


class Times(Function):
    """x * 2, whose gradient and tangent are those of other factors."""

    backward_factor: Any = 2.0
    forward_factor: Any = 2.0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @classmethod
    def backward(cls, ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * cls.backward_factor

    @classmethod
    def jvp(cls, ctx: Any, tangent: Tensor) -> Tensor:
        return tangent * cls.forward_factor


class WrongBackward(Times):
    backward_factor = 3.0


class WrongForward(Times):
    forward_factor = 3.0


@pytest.mark.parametrize("fast", [False, True])
def test_right_derivatives_pass(fast: bool) -> None:
    for x in (real(), complex_()):
        for function in (torch.sin, Times.apply, lambda x: (x * x, x.exp()), lambda x: torch.view_as_real(x * 1j)):
            assert gradcheck(function, (x,), fast_mode=fast, check_forward_ad=True, check_batched_grad=True)
        assert gradcheck(torch.sin, x, check_forward_ad=True, check_batched_forward_grad=True, check_backward_ad=False)
        assert gradgradcheck(torch.sin, (x,), fast_mode=fast)
        assert gradgradcheck(torch.sin, (x,), check_fwd_over_rev=True, gen_non_contig_grad_outputs=True, fast_mode=fast)
    assert gradcheck(lambda x, n: x**n, (real(), 3), masked=True, check_grad_dtypes=True, fast_mode=fast)
    assert gradcheck(lambda x: x.abs(), (complex_(),), fast_mode=fast)


def test_mismatches() -> None:
    with pytest.raises(
        GradcheckError,
        match=r"^Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor\(\[\[2.0000, 0.0000\],\n"
        r"        \[0.0000, 2.0000\]\], dtype=torch.float64\)\nanalytical:tensor\(\[\[3., 0.\],",
    ):
        gradcheck(WrongBackward.apply, (real(),))
    with pytest.raises(GradcheckError, match=r"^Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(WrongForward.apply, (real(),), check_forward_ad=True)
    with pytest.raises(GradcheckError, match=r"^While considering the imaginary part of complex outputs only, Jac"):
        gradcheck(WrongBackward.apply, (complex_(),))
    with pytest.raises(GradcheckError, match=r"The max per-element difference \(slow mode\) is: 1.0"):
        gradcheck(WrongBackward.apply, (real(),), fast_mode=True)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(WrongForward.apply, (real(),), check_forward_ad=True, fast_mode=True)
    assert not gradcheck(WrongBackward.apply, (real(),), raise_exception=False)
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach(), (real(),))


def test_second_derivatives_that_are_wrong() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return gradient * 2 * ctx.saved_tensors[0].detach()

    assert gradcheck(Square.apply, (real(),))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(Square.apply, (real(),))


def test_backward_passes_that_are_not_functions() -> None:
    class Noisy(Times):
        @classmethod
        def backward(cls, ctx: Any, gradient: Tensor) -> Tensor:
            return gradient * 2 + torch.randn_like(gradient) * 1e-7

    class NotMultiplied(Times):
        @classmethod
        def backward(cls, ctx: Any, gradient: Tensor) -> Tensor:
            return gradient * 2 + 1e-9

    class NeedsGradient(Times):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.set_materialize_grads(False)
            return x * 2

    with pytest.raises(GradcheckError, match=r"Backward is not reentrant.*The tolerance for nondeterminism was 0.0"):
        gradcheck(Noisy.apply, (real(),))
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(NotMultiplied.apply, (real(),), nondet_tol=1.0)
    with pytest.raises(TypeError, match="NoneType"):
        gradcheck(NeedsGradient.apply, (real(),))
    assert gradcheck(NeedsGradient.apply, (real(),), check_undefined_grad=False)


def test_wrong_questions() -> None:
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(torch.sin, (real().detach(),))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(torch.sin, (real().detach().float().requires_grad_(),), raise_exception=False)
    with pytest.raises(RuntimeError, match=r"The 0th input has a dimension with stride 0"):
        gradcheck(torch.sin, (torch.ones(1, dtype=torch.float64).expand(3).requires_grad_(),))
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_backward_ad"):
        gradcheck(torch.sin, (real(),), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        gradcheck(torch.sin, (real(),), check_forward_ad=True, check_backward_ad=False, check_batched_grad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(torch.sin, (real(),), check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="check_undefined_grad=True requires check_rev_over_rev"):
        gradgradcheck(torch.sin, (real(),), check_fwd_over_rev=True, check_rev_over_rev=False)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        gradgradcheck(torch.sin, (real(),), (torch.ones(3, dtype=torch.float64),))


def test_the_module_and_the_function_have_one_name() -> None:
    program = (
        "from torch.autograd.gradcheck import GradcheckError\n"
        "import torch\n"
        "x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "assert torch.autograd.gradcheck(torch.sin, (x,))\n"
        "from torch.autograd import gradcheck\n"
        "assert gradcheck(torch.sin, (x,))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
