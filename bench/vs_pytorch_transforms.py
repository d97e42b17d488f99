"""What vs_pytorch.py measures of torch.func: batches of functions, gradients of each sample, Jacobians, ensembles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], object]


def transforms(torch: Any) -> Iterator[tuple[str, Callable[[], Work]]]:
    """`vmap` and what is made with it, of small functions, where the way to the kernels counts, and of small models."""
    func, nn = torch.func, torch.nn
    batch, matrix, point = torch.randn(32, 64), torch.randn(32, 32), torch.randn(32)
    layer = nn.Linear(64, 64)

    def product(x: Any) -> Any:
        return (matrix @ x).sin()

    yield "vmap linear", lambda: lambda: func.vmap(layer)(batch)
    yield "vmap dot", lambda: lambda: func.vmap(torch.dot)(batch, batch)
    yield "vmap jvp", lambda: lambda: func.vmap(lambda t: func.jvp(product, (point,), (t,))[1])(matrix)
    yield "vmap of a vjp's product", lambda: _pulled(torch, product, point, matrix)
    yield "jacrev", lambda: lambda: func.jacrev(product)(point)
    yield "jacfwd", lambda: lambda: func.jacfwd(product)(point)
    yield "hessian", lambda: lambda: func.hessian(lambda x: product(x).sum())(point)
    yield "ensemble of 8", lambda: _ensemble(torch, batch)
    for name, make, shape in (
        ("mlp", lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), (32, 64)),
        ("wide mlp", lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)), (64, 784)),
        ("cnn", lambda: _cnn(nn), (16, 1, 14, 14)),
        ("transformer", lambda: _transformer(nn), (8, 10, 32)),
        ("lstm", lambda: _last(nn, nn.LSTM(16, 32, batch_first=True)), (16, 12, 16)),
    ):
        yield f"gradients of each sample, {name}", partial(_each_sample, torch, make, shape)


def _cnn(nn: Any) -> Any:
    first = (nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10))


def _transformer(nn: Any) -> Any:
    block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.Sequential(block, nn.Flatten(), nn.Linear(320, 10))


def _last(nn: Any, recurrent: Any) -> Any:
    class Last(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.recurrent, self.head = recurrent, nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.recurrent(x)[0][:, -1])

    return Last()


def _each_sample(torch: Any, make: Callable[[], Any], shape: tuple[int, ...]) -> Work:
    model = make()
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    inputs, targets = torch.randn(shape), torch.arange(shape[0]) % 10

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, weights, (x[None],)), y[None])

    gradients = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
    return lambda: gradients(parameters, inputs, targets)


def _pulled(torch: Any, function: Any, point: Any, vectors: Any) -> Work:
    pull = torch.func.vjp(function, point)[1]
    return lambda: torch.func.vmap(pull)(vectors)


def _ensemble(torch: Any, batch: Any) -> Work:
    nn, func = torch.nn, torch.func
    models = [nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)) for _ in range(8)]
    state = func.stack_module_state(models)
    return lambda: func.vmap(lambda s, x: func.functional_call(models[0], s, (x,)), (0, None))(state, batch)
