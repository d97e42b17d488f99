"""Forward mode: every operator's tangents against finite differences, dual tensors, nesting."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any

import op_db
import op_sample
import pytest

import torch
from torch import func
from torch.autograd import forward_ad as fwAD
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

# ---------------------------------------------------------------------- every operator


ROWS = [(key, row, sample) for key, row, sample, _ in op_db.samples("float64") if row.gradient]


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


@pytest.mark.parametrize(("row", "sample"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_every_operator(row: op_sample.Op, sample: op_sample.Call) -> None:
    """<w, J t>, in forward mode, is <J^T w, t>, backward."""
    function, leaves = op_sample.function_of_leaves(torch, row, sample)
    tangents = [torch.randn_like(leaf) for leaf in leaves]
    with fwAD.dual_level():
        torch.manual_seed(0)
        duals = [fwAD.make_dual(leaf.detach(), tangent) for leaf, tangent in zip(leaves, tangents, strict=True)]
        parts = [fwAD.unpack_dual(output) for output in _tensors(function(*duals))]
    torch.manual_seed(0)
    outputs = _tensors(function(*leaves))
    weights = [torch.randn_like(output) for output in outputs]
    weighed = [(output, weight) for output, weight in zip(outputs, weights, strict=True) if output.requires_grad]
    found = torch.autograd.grad([o for o, _ in weighed], leaves, [w for _, w in weighed], allow_unused=True)
    moved = [torch.zeros_like(primal) if tangent is None else tangent for primal, tangent in parts]
    forward = sum(float((weight * tangent).sum()) for weight, tangent in zip(weights, moved, strict=True))
    backward = sum(float((g * t).sum()) for g, t in zip(found, tangents, strict=True) if g is not None)
    assert [output.requires_grad for output in outputs] == [tangent is not None for _, tangent in parts]
    assert forward == pytest.approx(backward, rel=1e-6, abs=1e-8, nan_ok=True)


# ---------------------------------------------------------------------- dual tensors


def test_dual_tensors() -> None:
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        assert repr(dual) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
        primal, tangent = fwAD.unpack_dual(dual * dual)
        assert primal.tolist() == [1.0, 4.0]
        assert tangent is not None
        assert tangent.tolist() == [6.0, 16.0]
        assert fwAD.unpack_dual(primal).tangent is None
        assert fwAD.unpack_dual(x).tangent is None
        assert fwAD.unpack_dual(dual.detach()).tangent is None
        assert fwAD.unpack_dual((dual > 1).float()).tangent is None
    assert fwAD.unpack_dual(dual) == (dual, None)
    with fwAD.dual_level():  # the next level knows nothing of the last one's tangents
        assert fwAD.unpack_dual(dual).tangent is None


def test_errors_of_dual_tensors() -> None:
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwAD.exit_dual_level()
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fwAD.enter_dual_level()
        with pytest.raises(
            RuntimeError, match=r"Tensor is of size \[3\] while the given forward gradient is of size \[4\]"
        ):
            fwAD.make_dual(x, torch.ones(4))
        with pytest.raises(ValueError, match=r"Expected primal to be floating point or complex, but got: torch.int64"):
            fwAD.make_dual(torch.arange(3), x)
        dual = fwAD.make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
            fwAD.make_dual(dual, x)
        with pytest.raises(
            NotImplementedError, match="add_out that does not support it because it is an out= function"
        ):
            torch.add(dual, dual, out=torch.empty(3))
        with pytest.raises(RuntimeError, match="not the last one"):
            fwAD.exit_dual_level(level=1)


def tangent_of(tensor: Tensor) -> list[Any]:
    tangent = fwAD.unpack_dual(tensor).tangent
    assert tangent is not None
    return list(tangent.tolist())


def test_writes_in_place_move_tensors() -> None:
    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(3), torch.tensor([1.0, 2.0, 3.0]))
        base = torch.zeros(4)
        before = base[:3]
        base[1:] = dual
        assert tangent_of(base) == [0, 1, 2, 3]
        assert tangent_of(before) == [0, 1, 2]
        view = base.view(2, 2)[1]
        view.mul_(2)
        assert tangent_of(base) == [0, 1, 4, 6]
        base.zero_()
        assert tangent_of(view) == [0, 0]
        other = torch.ones(2, 3)
        other.t()[2].copy_(dual[:2])
        assert tangent_of(other) == [[0, 0, 1], [0, 0, 2]]
        same = dual + 0
        same.mul_(5)
        assert tangent_of(dual) == [1, 2, 3]  # the sum's tangent is its own
        square = fwAD.make_dual(torch.ones(1, 2), torch.ones(1, 2))
        square.t_().squeeze_()
        assert tangent_of(square) == [1, 1]


def test_both_ways_over_each_other() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        # backward over forward
        dual = fwAD.make_dual(x, torch.ones(2))
        tangent = fwAD.unpack_dual((dual**3).sum()).tangent
        assert tangent is not None
        (second,) = torch.autograd.grad(tangent, x)
        assert second.tolist() == [6.0, 12.0]
        # forward over backward, through saved inputs (pow) and saved results (exp)
        dual = fwAD.make_dual(x.detach(), torch.ones(2)).requires_grad_()
        (gradient,) = torch.autograd.grad((dual**3 + dual.exp()).sum(), dual)
        assert tangent_of(gradient) == pytest.approx((6 * x + x.exp()).tolist())


def test_writes_in_place_both_ways() -> None:
    def function(x: Tensor) -> Tensor:
        y = x.clone()
        y[0] = x[1] * 2
        y[:, 1].mul_(x[:, 0])
        y.t()[1].sub_(1)
        return y

    x, t, w = (torch.randn(2, 2, dtype=torch.float64) for _ in range(3))
    forward_first = func.vjp(lambda x: func.jvp(function, (x,), (t,))[1], x)[1](w)[0]
    backward_first = func.jvp(lambda x: func.vjp(function, x)[1](w)[0], (x,), (t,))[1]
    step = 1e-6
    sides = [func.vjp(function, x + sign * step * t)[1](w)[0] for sign in (1, -1)]
    assert torch.allclose(forward_first, (sides[0] - sides[1]) / (2 * step), rtol=1e-6)
    assert torch.allclose(backward_first, forward_first)


def test_a_level_leaves_nothing_behind() -> None:
    x = torch.ones(3, requires_grad=True)
    gone = weakref.ref(x)
    with fwAD.dual_level():
        # The node of exp keeps its result, the tangent of which has that node in its history.
        result = fwAD.make_dual(x, torch.ones(3)).exp().tanh()
        tangent = fwAD.unpack_dual(result).tangent
        assert tangent is not None
        tangent.sum().backward()
    del x, result, tangent
    assert gone() is None


def test_without_grad_mode_and_with_modules() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1))
    x, t = torch.randn(5, 3), torch.randn(5, 3)
    with torch.no_grad():
        value, change = func.jvp(layer, (x,), (t,))
        step = 1e-3
        expected = (layer(x + step * t) - layer(x - step * t)) / (2 * step)
    assert not change.requires_grad
    assert torch.allclose(change, expected, atol=1e-3)
    assert torch.equal(value, layer(x))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_levels_nest(depth: int) -> None:
    derivative: Callable[[Tensor], Tensor] = torch.sin
    for _ in range(depth):
        derivative = (lambda f: lambda x: func.jvp(f, (x,), (torch.ones_like(x),))[1])(derivative)
    x = torch.tensor([0.3, 1.0])
    expected = (torch.cos, lambda x: -torch.sin(x), lambda x: -torch.cos(x))[depth - 1](x)
    assert torch.allclose(derivative(x), expected)


def test_tangents_of_levels_are_not_confused() -> None:
    def inner(x: Tensor) -> Tensor:
        return func.jvp(lambda y: x * y, (torch.tensor(1.0),), (torch.tensor(1.0),))[1]

    assert func.jvp(lambda x: x * inner(x), (torch.tensor(2.0),), (torch.tensor(1.0),))[1].item() == 4.0


@pytest.mark.parametrize("transforms", list(itertools.product([func.jacrev, func.jacfwd], repeat=2)))
def test_hessians(transforms: tuple[Any, Any]) -> None:
    outer, inner = transforms
    x = torch.tensor([1.0, 2.0, 3.0])
    assert outer(inner(lambda x: x.prod()))(x).tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]
    assert func.hessian(lambda x: x.prod())(x).tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]


def test_gradients_of_and_by_jvp() -> None:
    x = torch.tensor([1.0, 2.0])

    def along(x: Tensor) -> Tensor:
        return func.jvp(lambda x: (x**3).sum(), (x,), (torch.ones(2),))[1]

    assert func.grad(along)(x).tolist() == [6.0, 12.0]
    product = func.jvp(func.grad(lambda x: (x**3).sum()), (x,), (torch.ones(2),))[1]
    assert product.tolist() == [6.0, 12.0]
    scale = torch.tensor(2.0, requires_grad=True)
    func.jvp(lambda x: (x * scale).sum(), (x,), (torch.ones(2),))[1].backward()
    assert scale.grad is not None
    assert scale.grad.item() == 2.0


def test_linearize() -> None:
    calls = []

    def function(x: Tensor, y: Tensor) -> dict[str, Tensor]:
        calls.append(1)
        return {"sum": x.sin() + y}

    x = torch.tensor([0.0, 1.0])
    value, change = func.linearize(function, x, x)
    assert torch.equal(value["sum"], x.sin() + x)
    for tangent in (torch.ones(2), torch.tensor([1.0, 2.0])):
        assert torch.allclose(change(tangent, 2 * tangent)["sum"], tangent * x.cos() + 2 * tangent)
    assert len(calls) == 1
    with pytest.raises(RuntimeError, match=r"tangent:0 with shape torch.Size\(\[3\]\)"):
        change(torch.ones(3), torch.ones(2))


def test_errors_of_jvp() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
        func.jvp(torch.sin, [x], [x])
    with pytest.raises(RuntimeError, match="same python structure"):
        func.jvp(torch.sin, (x,), (x, x))
    with pytest.raises(RuntimeError, match=r"expected f\(\*primals\) to return only tensors"):
        func.jvp(lambda x: 3, (x,), (x,))
    with pytest.raises(RuntimeError, match="independent of the inputs"):
        func.jvp(lambda x: torch.ones(2), (x,), (x,), strict=True)
    assert fwAD._current_level == -1
    assert func.jvp(torch.sin, (x,), (x,))[1].shape == (2,)  # an error leaves no level behind


# ---------------------------------------------------------------------- operations of one's own


class Scale(torch.autograd.Function):
    """x * y, with tangents that jvp gives."""

    @staticmethod
    def forward(x: Tensor, y: Tensor) -> Tensor:
        return x * y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x

    @staticmethod
    def jvp(ctx: Any, x_t: Tensor, y_t: Tensor) -> Tensor:
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


def test_functions_of_ones_own() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert func.jvp(Scale.apply, (x, y), (torch.ones(2), x))[1].tolist() == [4.0, 8.0]
    assert func.jvp(lambda x: Scale.apply(x, y), (x,), (x,))[1].tolist() == [3.0, 8.0]
    assert func.hessian(lambda x: Scale.apply(x, x).sum())(x).tolist() == [[2, 0], [0, 2]]
    assert torch.autograd.gradcheck(
        Scale.apply, (x.double().requires_grad_(), y.double().requires_grad_()), check_forward_ad=True
    )

    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return gradient * 2

    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        func.jvp(Plain.apply, (x,), (x,))
