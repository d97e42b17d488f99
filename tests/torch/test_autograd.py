"""torch.autograd: gradients against finite differences, hooks, modes, custom functions."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import op_db
import op_sample
import pytest

import torch
from torch.autograd import Function


def _has_elements(sample: op_sample.Call) -> bool:
    return all(0 not in value.shape for value in sample.args if isinstance(value, op_sample.T))


# Where finite differences mean nothing, the gradient is only compared with PyTorch's (test_golden).
ROWS = [
    (key, row, sample)
    for key, row, sample, dtype in op_db.samples("float64")
    if row.gradient and row.differences and _has_elements(sample)
]


@pytest.mark.parametrize(("row", "sample"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_gradcheck(row: op_sample.Op, sample: op_sample.Call) -> None:
    of_leaves, leaves = op_sample.function_of_leaves(torch, row, sample)
    assert torch.autograd.gradcheck(of_leaves, leaves)
    if row.second_gradient:
        assert torch.autograd.gradgradcheck(of_leaves, leaves)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gradcheck_of_lists(dim: int) -> None:
    inputs = [torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(lambda *tensors: torch.cat(tensors, dim), inputs)
    assert torch.autograd.gradcheck(lambda *tensors: torch.stack(tensors, dim), inputs)


# ---------------------------------------------------------------------------------------------------- graph


def test_gradients_accumulate_in_leaves() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for factor in (1, 2):
        (x * x).sum().backward()
        assert x.grad.tolist() == [2.0 * factor, 4.0 * factor]
    assert x.grad is x.grad
    x.grad = None
    assert x.grad is None


def test_grad_leaves_no_trace() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(2.0, requires_grad=True)
    assert [g.item() for g in torch.autograd.grad(x * x * y, [x, y])] == [12.0, 9.0]
    assert x.grad is None
    assert torch.autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None
    assert torch.autograd.grad(x * 2, [x, y], materialize_grads=True)[1].item() == 0.0
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(x * 2, y)


def test_backward_to_chosen_inputs() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [1, 1]
    assert y.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * y).sum().backward(inputs=[])


def test_second_derivative() -> None:
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x**4, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    (third,) = torch.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)


def test_retain_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_gradient_argument() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 3).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 3).backward(torch.ones(3))
    with pytest.raises(TypeError, match="either Tensors or None"):
        (x * 3).backward(2.0)  # type: ignore[arg-type]


def test_retain_grad_and_leaves() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert (x.is_leaf, y.is_leaf, y.retains_grad) == (True, False, False)
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]


def test_node_names_and_edges() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    assert y.grad_fn.name() == "SumBackward0"
    (multiply, _), *_ = y.grad_fn.next_functions
    assert multiply.name() == "MulBackward0"
    assert multiply.next_functions[0][0].name().endswith("AccumulateGrad")
    assert x.grad_fn is None


def test_inplace_on_a_view_reaches_the_base() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    y[0].mul_(5)
    y[:, 1] = 7
    y.sum().backward()
    assert x.grad.tolist() == [[10, 0, 10], [2, 0, 2]]


def test_inplace_after_save_is_noticed() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_broadcast_gradients_have_their_inputs_shape() -> None:
    x, y = torch.ones(3, 1, requires_grad=True), torch.ones(4, requires_grad=True)
    (x * y).sum().backward()
    assert (tuple(x.grad.shape), tuple(y.grad.shape)) == ((3, 1), (4,))
    assert x.grad.flatten().tolist() == [4.0] * 3


def test_deep_graph_needs_no_stack() -> None:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y + 0
    y.sum().backward()
    assert x.grad.item() == 1
    del y
    gc.collect()


def test_tensors_are_freed() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).exp()
    watched = weakref.ref(y)
    y.sum().backward()
    del y
    gc.collect()
    assert watched() is None


# ---------------------------------------------------------------------------------------------------- hooks


def test_tensor_hooks() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    seen: list[Any] = []
    handle = y.register_hook(lambda grad: seen.append(grad.tolist()))
    other = y.register_hook(lambda grad: grad * 10)
    y.sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [20.0, 20.0]
    handle.remove()
    other.remove()
    x.grad = None
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(print)


def test_leaf_hooks() -> None:
    x = torch.ones(2, requires_grad=True)
    seen: list[Any] = []
    x.register_hook(lambda grad: grad + 1)
    handle = x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.tolist()))
    (x * 2).sum().backward()
    assert seen == [[3.0, 3.0]]
    handle.remove()
    (x * 2).sum().backward()
    assert len(seen) == 1


def test_a_hook_that_raises_stops_backward() -> None:
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert x.grad is None


# ---------------------------------------------------------------------------------------------------- modes


def test_grad_modes() -> None:
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        with torch.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        assert not (x * 2).requires_grad
    assert not torch.is_inference_mode_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with pytest.raises(ZeroDivisionError), torch.no_grad():
        _ = 1 / 0
    assert torch.is_grad_enabled()


def test_grad_modes_as_decorators() -> None:
    @torch.no_grad()
    def called() -> bool:
        return torch.is_grad_enabled()

    @torch.no_grad
    def bare() -> bool:
        return torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def switched() -> bool:
        return torch.is_grad_enabled()

    @torch.no_grad()
    def generator() -> Any:
        received = yield torch.is_grad_enabled()
        yield torch.is_grad_enabled(), received

    assert torch.is_grad_enabled()
    assert [called(), bare(), switched()] == [False] * 3
    running = generator()
    assert next(running) is False
    assert torch.is_grad_enabled()
    assert running.send("x") == (False, "x")


# ---------------------------------------------------------------------------------------------------- Function


class _Scale(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * factor

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * 2 * x * ctx.factor, None


def test_custom_function() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = _Scale.apply(x, 3.0)
    assert y.tolist() == [3.0, 12.0]
    assert type(y.grad_fn).__name__ == "_ScaleBackward" or y.grad_fn.name() == "_ScaleBackward"
    assert "grad_fn=<_ScaleBackward>" in repr(y)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert not _Scale.apply(torch.ones(1), 3.0).requires_grad
    z = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: _Scale.apply(t, 2.0), (z,))
    assert torch.autograd.gradgradcheck(lambda t: _Scale.apply(t, 2.0), (z,))


def test_custom_function_with_setup_context() -> None:
    class Two(Function):
        @staticmethod
        def forward(x: torch.Tensor, y: torch.Tensor) -> Any:
            return x * y, x + y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor, unused: torch.Tensor) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    product, total = Two.apply(x, y)
    assert (product.requires_grad, total.requires_grad) == (True, False)
    product.backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)


def test_custom_function_in_place_and_unmaterialized() -> None:
    class AddOne(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 5

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = AddOne.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]

    class Split(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> Any:
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            assert second is None
            return first

    x.grad = None
    Split.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_custom_function_errors() -> None:
    class Short(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            return grad

    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients"):
        Short.apply(x, x).backward()

    class Nothing(Function):
        pass

    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Nothing.apply(x)

    class Fails(Short):
        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Fails.apply(x, x).backward()
