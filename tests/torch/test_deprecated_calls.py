"""Calls whose numbers stand before the tensors, as old programs write them; PyTorch 2.13 gives these values."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import torch

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
LEFT, RIGHT = torch.ones(2, 4), torch.ones(4, 3)
any_torch: Any = torch  # whose stubs have today's forms only


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: any_torch.add(x, 0.5, x), 1.5 * X),
        (lambda x: x.add_(-0.5, x.clone()), 0.5 * X),
        (lambda x: x.add_(-0.5, other=X), 0.5 * X),
        (lambda x: x.sub(0.5, x), 0.5 * X),
        (lambda x: any_torch.addcmul(x, 2, x, x), X + 2 * X * X),
        (lambda x: x.addcdiv_(-0.5, x.clone(), x.clone()), X - 0.5),
        (lambda x: x.addcmul(0.5, x, x), X + 0.5 * X * X),
        (lambda x: any_torch.addmm(0.5, x, 2, LEFT, RIGHT), 0.5 * X + 8),
        (lambda x: any_torch.addmm(0.5, x, LEFT, RIGHT), 0.5 * X + 4),
        (lambda x: x.addmm_(0.5, 2, LEFT, RIGHT), 0.5 * X + 8),
        (lambda x: x.addmm(0.5, LEFT, RIGHT), 0.5 * X + 4),
        (lambda x: any_torch.addmv(1, torch.zeros(2), 2, x, torch.ones(3)), torch.tensor([12.0, 30.0])),
        (lambda x: any_torch.addr(0.5, x, 2, torch.ones(2), torch.ones(3)), 0.5 * X + 2),
        (lambda x: any_torch.addbmm(0.5, x, 2, LEFT[None], RIGHT[None]), 0.5 * X + 8),
        (lambda x: any_torch.baddbmm(0.5, x[None], 2, LEFT[None], RIGHT[None]), 0.5 * X[None] + 8),
        (lambda x: any_torch.add(x, 2, x, out=torch.empty(2, 3)), 3 * X),
        (lambda x: any_torch.add(x, torch.tensor(2), x), 3 * X),
    ],
)
def test_numbers_before_tensors(call: Any, expected: torch.Tensor) -> None:
    assert torch.equal(call(X.clone()), expected)


@pytest.mark.filterwarnings("ignore:This overload of")
def test_gradients_follow() -> None:
    weight = torch.ones(3, requires_grad=True)
    any_torch.add(torch.zeros(3), 3, weight).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [3.0, 3.0, 3.0]


def test_a_program_hears_of_it_once() -> None:
    program = "import torch\nx = torch.ones(2)\nfor _ in range(3):\n    x.add_(-1, x)\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr.count("This overload of add_ is deprecated") == 1


@pytest.mark.parametrize("call", [lambda: any_torch.rsub(X, 2, X), lambda: X.add_("2", X), lambda: X.addmm(X, 2, X)])
def test_other_calls_stay_errors(call: Any) -> None:
    with pytest.raises(TypeError):
        call()
