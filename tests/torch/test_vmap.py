"""`vmap` in whole batches: each sample's gradients, nesting, randomness, what it refuses, operations of one's own."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import func, nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

X = torch.linspace(-2, 2, 12).reshape(4, 3)


# ---------------------------------------------------------------------- gradients of each sample


class _Last(nn.Module):
    """The last output of a recurrent module."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0][:, -1]


def _cnn() -> nn.Module:
    first = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(first, nn.Conv2d(4, 6, 3, stride=2), nn.Flatten(), nn.Linear(6, 3))


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3)), (6, 5)),
    "cnn": (_cnn, (6, 2, 8, 8)),
    "transformer": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), nn.Flatten(), nn.Linear(40, 3)
        ),
        (6, 5, 8),
    ),
    "lstm": (lambda: _Last(nn.LSTM(4, 3, 2, batch_first=True)), (6, 5, 4)),
    "gru": (lambda: _Last(nn.GRU(4, 3, bidirectional=True, batch_first=True)), (6, 5, 4)),
    "embedding": (lambda: nn.Sequential(nn.Embedding(7, 4, padding_idx=1), nn.Flatten(), nn.Linear(12, 3)), (6, 3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_each_sample(name: str) -> None:
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make().double()
    parameters = {key: value.detach() for key, value in model.named_parameters()}
    inputs = torch.randint(7, shape) if name == "embedding" else torch.randn(shape, dtype=torch.float64)
    targets = torch.arange(6) % 3

    def loss(weights: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(func.functional_call(model, weights, (x[None],)), y[None])

    together = func.vmap(func.grad(loss), (None, 0, 0))(parameters, inputs, targets)
    in_parts = func.vmap(func.grad(loss), (None, 0, 0), chunk_size=4)(parameters, inputs, targets)
    for index in range(6):
        model.zero_grad()
        F.cross_entropy(model(inputs[index : index + 1]), targets[index : index + 1]).backward()
        for key, parameter in model.named_parameters():
            torch.testing.assert_close(together[key][index], parameter.grad)
            torch.testing.assert_close(in_parts[key][index], parameter.grad)


def test_ensembles() -> None:
    models = [nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.Tanh()).eval() for _ in range(3)]
    state = func.stack_module_state(models)
    x = torch.randn(5, 2, 7)
    outputs = func.vmap(lambda s, x: func.functional_call(models[0], s, (x,)), (0, None))(state, x)
    torch.testing.assert_close(outputs, torch.stack([model(x) for model in models]))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (nn.LSTM, {}),
        (nn.LSTM, {"proj_size": 2, "batch_first": True}),
        (nn.GRU, {"bidirectional": True, "num_layers": 2}),
        (nn.RNN, {"nonlinearity": "relu", "bias": False}),
    ],
)
def test_recurrent_networks(kind: Any, options: dict[str, Any]) -> None:
    model, x = kind(3, 4, **options).double(), torch.randn(5, 6, 2, 3, dtype=torch.float64)
    own = {name: torch.stack([v.detach() * (1 + i / 9) for i in range(5)]) for name, v in model.named_parameters()}
    shared = func.vmap(model)(x)
    several = func.vmap(lambda weights, x: func.functional_call(model, weights, (x,)))(own, x)
    for index in range(5):
        weights = {name: value[index] for name, value in own.items()}
        for found, alone in ((shared, model(x[index])), (several, func.functional_call(model, weights, (x[index],)))):
            for one, other in zip(tree_leaves(found), tree_leaves(alone), strict=True):
                torch.testing.assert_close(one[index], other)


# ---------------------------------------------------------------------- nesting


def test_levels_and_derivatives_nest() -> None:
    rows, columns = X[:, 0], X[0]
    table = func.vmap(func.vmap(lambda a, b: a * b, (None, 0)), (0, None))(rows, columns)
    assert torch.equal(table, rows[:, None] * columns)
    hessians = func.vmap(func.hessian(lambda x: (x**3).sum()))(X)
    torch.testing.assert_close(hessians, torch.diag_embed(6 * X))
    outer = func.grad(lambda w: func.vmap(lambda x: (x * w).sin().sum())(X).sum())(X[0])
    torch.testing.assert_close(outer, ((X * X[0]).cos() * X).sum(0))
    mixed = func.vmap(lambda a: func.vmap(func.grad(lambda w, b: w * a * b), (None, 0))(a, columns))(rows)
    torch.testing.assert_close(mixed, rows[:, None] * columns)
    change = func.vmap(lambda t: func.jvp(torch.sin, (X[0],), (t,))[1])(torch.eye(3))
    torch.testing.assert_close(change, torch.diag(X[0].cos()))
    product = func.vjp(torch.sin, X[0])[1]
    torch.testing.assert_close(func.vmap(product)(torch.eye(3))[0], torch.diag(X[0].cos()))


def test_jacobians_in_chunks_and_of_functions_that_look() -> None:
    matrix = torch.arange(12.0).reshape(4, 3)
    expected = matrix * X[0].cos()
    for chunk_size in (None, 1, 3, 9):
        torch.testing.assert_close(func.jacrev(lambda x: matrix @ x.sin(), chunk_size=chunk_size)(X[0]), expected)
    for transform in (func.jacrev, func.jacfwd):
        assert torch.equal(transform(lambda x: x * 2 if x.sum() < 0 else x)(X[0]), 2 * torch.eye(3))
        assert torch.equal(transform(lambda x: x * float(x[0].item()))(X[0]).diagonal()[1:], X[0, :1].expand(2))
        assert transform(lambda x: x[x < 0])(X[0]).shape == (3, 3)
        assert torch.equal(transform(lambda x: x * torch.equal(x, X[0]))(X[0]), torch.eye(3))
    torch.manual_seed(1)
    noisy = func.jacrev(lambda x: x * torch.rand(3))(X[0])
    torch.manual_seed(1)
    assert torch.equal(noisy, torch.diag(torch.rand(3)))
    drawn = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(4)[3:], drawn)


# ---------------------------------------------------------------------- indices, and functions written in Python

SHARED = torch.arange(20.0).view(4, 5)
A, V = torch.linspace(-1, 1, 240).view(3, 4, 5, 4), torch.linspace(-1, 1, 60).view(3, 4, 5)
P, Q = torch.tensor([[0, 1], [1, 3], [3, 2]]), torch.tensor([[[0], [1]], [[2], [0]], [[3], [1]]])


def _written(write: Any) -> Any:
    def function(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        write(x, *others)
        return x

    return function


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x, i: x[:, i], (V, P)),
        (lambda x, i: x[i, :, i], (A, P)),
        (lambda x, i: x[..., i, None], (V, P)),
        (lambda x, i: x[i, 1], (V, P)),
        (lambda x, i, j: x[i, j], (V, P, Q)),
        (lambda x, i: x[:, None, i], (V, P)),
        (lambda x: x[torch.tensor([0, 1]), :, torch.tensor([1, 2])], (A,)),
        (lambda x: x[torch.tensor([True, False, True, True])], (V,)),
        (lambda i: SHARED[i], (P,)),
        (lambda i: SHARED[:, i], (P,)),
        (lambda i, j: SHARED[i, j], (P, Q)),
        (_written(lambda x, v: x.__setitem__((slice(None), 0), v)), (V, V[:, :, 1])),
        (_written(lambda x, i: x.__setitem__(i, 0.0)), (V, P)),
        (_written(lambda x, i, v: x.__setitem__(i, v)), (V, P, V[:, :2])),
        (_written(lambda x, i, v: x.__setitem__((slice(None), i), v)), (V, P, V[:, :, :2])),
        (_written(lambda x: x.__setitem__(x > 0, 0.0)), (V,)),
        (_written(lambda x, v: x.__setitem__(..., v)), (V, V[:, 0, 0])),
        (lambda x, y: F.ctc_loss(x[:, None].log_softmax(-1), y, torch.tensor([4]), torch.tensor([2])), (V, P[:, None])),
        (lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2), (A[..., 0],)),
        (
            lambda x, w: F.conv2d(x, w, groups=2, padding="same"),
            (A[:, None], A[:, :, :2, :1].expand(3, 4, 2, 1)[..., None]),
        ),
        (lambda w: F.conv1d(SHARED, w), (V[:, :, :3].reshape(3, 3, 4, 1),)),
        (lambda q, m: F.scaled_dot_product_attention(q[None], q[None], q[None], attn_mask=m), (V, V[:, :, :4])),
        (lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1, ignore_index=1), (V[:, :2], P)),
        (lambda x, y: F.nll_loss(x, y, weight=torch.arange(1.0, 6)), (V[:, :2], P)),
        (lambda x, y: torch.einsum("...ij,jk", x, y), (A, V[:, :, :2])),
    ],
)
def test_gives_what_elements_give(function: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    expected = torch.stack([function(*(each[index] for each in inputs)) for index in range(3)])
    torch.testing.assert_close(func.vmap(function)(*inputs), expected)


# ---------------------------------------------------------------------- random numbers


def test_randomness() -> None:
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        func.vmap(lambda x: x + torch.rand(3))(X)
    same = func.vmap(lambda x: x * 0 + torch.randn(3), randomness="same")(X)
    assert torch.equal(same, same[:1].expand(4, 3))
    different = func.vmap(lambda x: x * 0 + torch.randn(3), randomness="different")(X)
    assert different.unique().numel() == 12
    ones = torch.ones(5, 64)
    masks = func.vmap(F.dropout, randomness="same")(ones)
    assert torch.equal(masks, masks[:1].expand(5, 64))
    assert not torch.equal(*func.vmap(F.dropout, randomness="different")(ones)[:2])
    assert torch.equal(func.vmap(lambda x: F.dropout(x, training=False))(ones), ones)
    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness on an unbatched tensor"):
        func.vmap(lambda x: x + torch.zeros(3).normal_(), randomness="different")(X)


# ---------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.sum().item(), r"calling \.item\(\) on a Tensor"),
        (lambda x: x if x.sum() > 0 else -x, "data-dependent control flow"),
        (lambda x: x.nonzero(), "dynamic shape"),
        (lambda x: x[x > 0], "dynamic shape"),
        (lambda x: torch.zeros(3).add_(x), "inplace arithmetic"),
        (lambda x: torch.zeros(3).__setitem__(0, x[0]), "inplace arithmetic"),
        (lambda x: torch.add(x, x, out=torch.zeros(3)), "out="),
        (lambda x: nn.BatchNorm1d(3)(x.expand(2, 3)), "replace_all_batch_norm_modules_"),
    ],
)
def test_refusals(function: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        func.vmap(function)(X)


def test_batches_of_nothing() -> None:
    none = torch.zeros(0, 4, 3)
    assert func.vmap(nn.Linear(3, 2))(none).shape == (0, 4, 2)
    assert func.vmap(F.cross_entropy)(none, torch.zeros(0, 4, dtype=torch.int64)).shape == (0,)
    assert func.vmap(F.scaled_dot_product_attention)(none[None].movedim(0, 1), *[none[:, None]] * 2).shape == (
        0,
        1,
        4,
        3,
    )
    assert func.vmap(func.hessian(lambda x: (x**2).sum()))(none[:, 0]).shape == (0, 3, 3)
    for transform in (func.jacrev, func.jacfwd):
        assert transform(lambda x: x * 2)(torch.ones(0)).shape == (0, 0)
        assert transform(lambda x: x[:0])(torch.ones(3)).shape == (0, 3)


def test_a_tensor_that_escapes_is_of_no_use() -> None:
    kept = []
    func.vmap(lambda x: (kept.append(x), x)[1])(X)
    with pytest.raises(RuntimeError, match="a call of vmap that is over"):
        kept[0] + 1
    assert "BatchedTensor" in repr(kept[0])


# ---------------------------------------------------------------------- PyTorch's names


def test_what_a_batch_shows() -> None:
    core = torch._C._functorch
    seen = {}

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.update(
            level=core.maybe_get_level(x), bdim=core.maybe_get_bdim(x), is_batch=core.is_batchedtensor(x),
            value=core.get_unwrapped(x), now=core.current_level(), text=repr(x), shape=x.shape, dim=x.dim(),
        )  # fmt: skip
        return x

    func.vmap(look, in_dims=1)(X)
    assert (seen["level"], seen["bdim"], seen["is_batch"], seen["now"]) == (1, 0, True, 1)
    assert torch.equal(seen["value"], X.t())
    assert (seen["shape"], seen["dim"]) == ((4,), 1)
    assert seen["text"].startswith("BatchedTensor(lvl=1, bdim=0, value=")
    assert core.maybe_current_level() is None
    assert core.maybe_get_level(X) == -1


def test_dtypes_are_those_of_elements() -> None:
    scalars, vectors = torch.ones(3, dtype=torch.float64), torch.ones(3, 2)
    assert func.vmap(torch.add)(scalars, vectors).dtype is torch.float32
    assert func.vmap(torch.add)(scalars, torch.ones(3)).dtype is torch.float64
    assert func.vmap(torch.mul)(scalars, torch.ones(3, 2, dtype=torch.int64)).dtype is torch.float64


# ---------------------------------------------------------------------- operations of one's own


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        assert inputs[0].dim() == 1
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        assert x.dim() == 1
        return gradient * 3 * x**2


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 2

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], x: torch.Tensor) -> tuple[torch.Tensor, int]:
        assert (info.batch_size, info.randomness, in_dims) == (4, "error", (0,))
        return Doubled.apply(x).t(), 1


class Alone(Cube):
    generate_vmap_rule = False


def test_functions_of_ones_own() -> None:
    torch.testing.assert_close(func.vmap(Cube.apply)(X), X**3)
    torch.testing.assert_close(func.vmap(func.grad(lambda x: Cube.apply(x).sum()))(X), 3 * X**2)
    torch.testing.assert_close(
        func.vmap(func.grad(lambda x: func.grad(lambda y: Cube.apply(y).sum())(x).sum()))(X), 6 * X
    )
    assert torch.equal(func.vmap(Doubled.apply)(X), X * 2)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        func.vmap(Alone.apply)(X)
    torch.testing.assert_close(func.jacrev(Alone.apply)(X[0]), torch.diag(3 * X[0] ** 2))


def test_operators_of_ones_own() -> None:
    @torch.library.custom_op("batches::halved", mutates_args=())
    def halved(x: torch.Tensor) -> torch.Tensor:
        calls.append(x.shape)
        return x / 2

    calls: list[Any] = []
    assert torch.equal(func.vmap(halved)(X), X / 2)
    assert calls == [(3,)] * 4
    halved.register_vmap(lambda info, in_dims, x: (halved(x), in_dims[0]))
    calls.clear()
    assert torch.equal(func.vmap(halved)(X), X / 2)
    assert calls == [(4, 3)]


def test_hooks_and_gradients_inside() -> None:
    def gradient(x: torch.Tensor) -> torch.Tensor:
        leaf = x.detach().requires_grad_()
        leaf.register_hook(lambda g: g * 2)
        return torch.autograd.grad((leaf**2).sum(), leaf)[0]

    torch.testing.assert_close(func.vmap(gradient)(X), 4 * X)
    shared = X[0].clone().requires_grad_()
    torch.testing.assert_close(func.vmap(lambda x: torch.autograd.grad((shared * x).sum(), shared)[0])(X), X)

    def rows(x: torch.Tensor) -> torch.Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(leaf.sin() * leaf.sum(), leaf, torch.eye(3), is_grads_batched=True)[0]

    torch.testing.assert_close(func.vmap(rows)(X), torch.stack([rows(x) for x in X]))
