"""torch.func and torch.autograd.functional against derivatives that are known."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import func, nn
from torch.autograd import functional

X = torch.tensor([0.5, -1.0, 2.0])
A = torch.arange(9.0).reshape(3, 3) / 10
EYE = torch.eye(3)


def cubes(x: Any) -> Any:
    return (x**3).sum()


def product(x: Any) -> Any:
    return A @ x.sin()


JACOBIAN = A * X.cos()


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_jacobians(transform: Any) -> None:
    result = transform(product)(X)
    assert torch.allclose(result, JACOBIAN)
    assert not result.requires_grad
    one, two = transform(lambda x, y: x * y, argnums=(0, 1))(X, X + 1)
    assert torch.allclose(one, torch.diag(X + 1))
    assert torch.allclose(two, torch.diag(X))
    nested = transform(lambda d: {"out": d["a"] * 2})({"a": X})
    assert torch.equal(nested["out"]["a"], 2 * EYE)
    value, aux = transform(lambda x: (x * 2, x + 1), has_aux=True)(X)
    assert torch.equal(value, 2 * EYE)
    assert torch.equal(aux, X + 1)


def test_gradients() -> None:
    assert torch.allclose(func.grad(cubes)(X), 3 * X**2)
    assert torch.allclose(func.grad(lambda x: func.grad(cubes)(x).sum())(X), 6 * X)
    assert torch.allclose(func.hessian(cubes)(X), torch.diag(6 * X))
    gradient, value = func.grad_and_value(cubes)(X)
    assert torch.allclose(value, cubes(X))
    assert not gradient.requires_grad
    assert not value.requires_grad
    with torch.no_grad():
        assert torch.allclose(func.grad(cubes)(X), 3 * X**2)
    (one, two), aux = func.grad(lambda x, y: ((x * y).sum(), x), argnums=(0, 1), has_aux=True)(X, A[0])
    assert torch.equal(one, A[0])
    assert torch.equal(two, X)
    assert torch.equal(aux, X)
    with pytest.raises(RuntimeError, match=r"Expected f.* to return a scalar Tensor, got tensor with 1 dims"):
        func.grad(lambda x: x)(X)
    with pytest.raises(RuntimeError, match="Got argnum=3, but only 1 positional inputs"):
        func.grad(cubes, argnums=3)(X)


def test_nothing_is_recorded_where_gradients_are_off() -> None:
    weight, x, y = A.clone().requires_grad_(), X.clone().requires_grad_(), torch.ones(3, requires_grad=True)

    def f(values: Any) -> Any:
        return weight @ values.sin()

    with torch.no_grad():
        value, pull = func.vjp(f, x)
        moved, push = func.linearize(f, x)
        results = [value, *pull(y), moved, push(y), *func.jvp(f, (x,), (y,)), func.jacrev(f)(x), func.jacfwd(f)(x)]
        results += func.grad_and_value(lambda values: f(values) @ y)(x)
        assert [result.requires_grad for result in results] == [False] * len(results)
        second = func.grad(lambda values: func.grad(cubes)(values).sum())(X)  # the inner one is recorded for the outer
    assert torch.allclose(second, torch.full((3,), 6.0) * X)
    assert torch.allclose(results[1], weight.T @ y * X.cos())
    assert func.vjp(f, x)[0].requires_grad


def test_outer_gradients_flow_through() -> None:
    x = X.clone().requires_grad_()
    inner = func.grad(cubes)(x)
    assert inner.requires_grad
    inner.sum().backward()
    assert torch.allclose(x.grad, 6 * X)
    weight = A.clone().requires_grad_()
    func.grad(lambda x: (weight @ x).sum())(X).sum().backward()
    assert torch.equal(weight.grad, torch.ones(3, 3))


def test_products() -> None:
    value, pull = func.vjp(product, X)
    assert torch.equal(value, product(X))
    (pulled,) = pull(EYE[1])
    assert torch.allclose(pulled, JACOBIAN[1])
    value, change = func.jvp(product, (X,), (EYE[1],))
    assert torch.allclose(change, JACOBIAN[:, 1])
    value, push = func.linearize(product, X)
    assert torch.allclose(push(EYE[2]), JACOBIAN[:, 2])
    _, pull, aux = func.vjp(lambda x, y: ((x * y, y.sum()), x + y), X, X, has_aux=True)
    assert torch.equal(aux, 2 * X)
    one, two = pull((torch.ones(3), torch.tensor(2.0)))
    assert torch.equal(one, X)
    assert torch.equal(two, X + 2)


def test_batches() -> None:
    batch = torch.stack([X, X * 2])
    assert torch.equal(func.vmap(cubes)(batch), (batch**3).sum(1))
    assert torch.allclose(func.vmap(func.grad(cubes))(batch), 3 * batch**2)
    assert torch.equal(torch.vmap(lambda a, b: a @ b, in_dims=(None, 0))(A, batch), batch @ A.t())
    assert torch.equal(func.vmap(lambda row: row * 2, in_dims=1, out_dims=1)(A), A * 2)
    one, two = func.vmap(lambda d: (d["a"] + 1, d["b"]))({"a": batch, "b": A[:2]})
    assert torch.equal(one, batch + 1)
    assert torch.equal(two, A[:2])
    same = func.vmap(lambda x: x + torch.rand(1), randomness="same")(torch.zeros(3, 1))
    assert same[0] == same[1] == same[2]
    with pytest.raises(ValueError, match="Expected all tensors to have the same size in the mapped dimension"):
        func.vmap(lambda a, b: a)(X, A[:2])
    with pytest.raises(ValueError, match="must only return Tensors"):
        func.vmap(lambda x: 3)(X)
    with pytest.raises(ValueError, match="so expected in_dim to satisfy"):
        func.vmap(lambda x: x, in_dims=5)(X)


def test_modules_as_functions() -> None:
    layers = [nn.Linear(3, 2) for _ in range(2)]
    parameters, buffers = func.stack_module_state(layers)
    assert parameters["weight"].shape == (2, 2, 3)
    assert buffers == {}
    outputs = func.vmap(lambda p, x: func.functional_call(layers[0], p, (x,)), in_dims=(0, None))(parameters, X)
    assert torch.allclose(outputs, torch.stack([layer(X) for layer in layers]))
    gradient = func.grad(lambda p: func.functional_call(layers[0], p, (X,)).sum())(dict(layers[0].named_parameters()))
    assert torch.allclose(gradient["weight"], X.expand(2, 3))


def test_functional() -> None:
    assert torch.allclose(functional.jacobian(product, X), JACOBIAN)
    assert torch.allclose(functional.jacobian(product, X, vectorize=True, strategy="forward-mode"), JACOBIAN)
    assert torch.allclose(functional.hessian(cubes, X), torch.diag(6 * X))
    blocks = functional.hessian(lambda x, y: (x * y**2).sum(), (X, X))
    assert torch.equal(blocks[0][0], torch.zeros(3, 3))
    assert torch.allclose(blocks[0][1], torch.diag(2 * X))
    assert torch.allclose(blocks[1][1], torch.diag(2 * X))
    for name in ("hvp", "vhp"):
        value, result = getattr(functional, name)(cubes, X, EYE[0])
        assert torch.allclose(value, cubes(X))
        assert torch.allclose(result, 6 * X * EYE[0])
    assert torch.allclose(functional.vjp(product, X, EYE[1])[1], JACOBIAN[1])
    assert torch.allclose(functional.jvp(product, X, EYE[1])[1], JACOBIAN[:, 1])
    x = X.clone().requires_grad_()
    functional.jacobian(lambda x: x**3, x, create_graph=True).sum().backward()
    assert torch.allclose(x.grad, 6 * X)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: functional.jacobian(lambda x: 3, X), TypeError, "must be either a Tensor or a tuple of Tensors"),
        (lambda: functional.hessian(lambda x: x, X), RuntimeError, "should contain a single element"),
        (lambda: functional.vjp(product, X), RuntimeError, "The vector v can only be None"),
        (lambda: functional.vjp(product, X, torch.ones(2)), RuntimeError, "v has invalid size"),
        (lambda: functional.jacobian(lambda x: A[0], X, strict=True), RuntimeError, "does not require gradients"),
        (
            lambda: functional.jacobian(lambda x, y: x * 2, (X, X), strict=True),
            RuntimeError,
            "is independent of input 1",
        ),
    ],
)
def test_functional_errors(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_steps_of_vmap_can_be_replaced() -> None:
    """As tensordict does, for containers of tensors of its own."""
    from torch._C._functorch import _add_batch_dim, _remove_batch_dim, is_batchedtensor
    from torch._functorch import vmap as steps

    class Box:
        def __init__(self, value: torch.Tensor) -> None:
            self.value = value

    def create(dims: list[int | None], leaves: list[Any], level: int, spec: Any) -> Any:
        parts = [
            Box(_add_batch_dim(leaf.value, dim, level)) for dim, leaf in zip(dims, leaves, strict=True) if dim == 0
        ]
        return torch.utils._pytree.tree_unflatten(parts, spec)

    def process(in_dims: Any, args: Any, func: Any) -> Any:
        leaves, spec = torch.utils._pytree.tree_flatten(args)
        return 3, [in_dims] * len(leaves), leaves, spec

    kept = steps._create_batched_inputs, steps._process_batched_inputs
    steps._create_batched_inputs, steps._process_batched_inputs = create, process
    try:
        result = torch.vmap(lambda box: box.value * 2)(Box(torch.arange(3.0)))
    finally:
        steps._create_batched_inputs, steps._process_batched_inputs = kept
    assert result.tolist() == [0, 2, 4]
    assert not is_batchedtensor(result)
    assert callable(_remove_batch_dim)


@pytest.mark.filterwarnings("ignore:functorch:FutureWarning")
def test_functorch() -> None:
    functorch = pytest.importorskip("functorch")
    tied = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()
    tied.append(tied[0])
    function, parameters, buffers = functorch.make_functional_with_buffers(tied)
    assert (len(parameters), len(buffers)) == (4, 3)
    x = torch.ones(3, 2)
    torch.testing.assert_close(function(parameters, buffers, x), tied(x))
    function, parameters = functorch.make_functional(torch.nn.Linear(2, 1), disable_autograd_tracking=True)
    assert isinstance(function, functorch.FunctionalModule)
    assert not parameters[0].requires_grad
    assert function([torch.ones(1, 2), torch.zeros(1)], x).tolist() == [[2]] * 3
    with pytest.raises(RuntimeError, match="has buffers"):
        functorch.make_functional(tied)
    function, parameters, _ = functorch.combine_state_for_ensemble([torch.nn.Linear(2, 1) for _ in range(4)])
    assert functorch.vmap(function, (0, None, None))(parameters, (), x).shape == (4, 3, 1)
    with pytest.warns(FutureWarning, match=r"use torch\.func\.grad"):
        functorch.grad(torch.sin)(torch.tensor(0.0))


def test_elements_of_vmap_go_through_one_graph() -> None:
    """As Jacobians are computed: one graph for all elements, freed after the last of them."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    jacobian = torch.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=False)[0])(torch.eye(2))
    torch.testing.assert_close(jacobian, torch.diag(x.detach().exp()))
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    y = x.exp()
    rows = torch.vmap(torch.vmap(lambda v: torch.autograd.grad(y, x, v)[0]))(torch.eye(2).expand(3, 2, 2))
    assert rows.shape == (3, 2, 2)
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
