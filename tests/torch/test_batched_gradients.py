"""One pass of the engine for a batch of gradients gives what one pass for each of them gives."""

from __future__ import annotations

from typing import Any

import op_db
import pytest
from op_sample import build, function_of

import torch
from torch._functorch import _gradients

SIZE = 10
ROWS = [(key, row, sample) for key, row, sample, _ in op_db.samples("float64") if row.gradient]


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, (tuple, list)) else []


def _same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return all(tensor is None or not tensor.any() for tensor in (one, other))
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-8, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize(("key", "row", "sample"), ROWS, ids=[key for key, _, _ in ROWS])
def test_of_every_operator(key: str, row: Any, sample: Any) -> None:
    args, kwargs, leaves = build(torch, sample, "float64", gradients=True)
    torch.manual_seed(1)
    outputs = [one for one in _tensors(function_of(torch, row.path)(*args, **kwargs)) if one.requires_grad]
    if not outputs:
        pytest.skip("nothing to differentiate")
    vectors = [torch.randn(SIZE, *output.shape, dtype=output.dtype, requires_grad=True) for output in outputs]
    more: dict[str, Any] = {"create_graph": True, "allow_unused": True}
    rows = [torch.autograd.grad(outputs, leaves, [each[index] for each in vectors], **more) for index in range(SIZE)]
    wanted = [None if column[0] is None else torch.stack(column) for column in zip(*rows, strict=True)]  # type: ignore[arg-type]
    found = torch.autograd.grad(outputs, leaves, vectors, is_grads_batched=True, **more)
    assert all(map(_same, found, wanted))

    def differentiated(results: Any) -> Any:
        recorded = [one for one in results if one is not None and one.requires_grad]
        torch.manual_seed(2)
        weights = [torch.randn(one.shape, dtype=one.dtype) for one in recorded]
        both = [*leaves, *vectors]
        return torch.autograd.grad(recorded, both, weights, retain_graph=True, allow_unused=True) if recorded else ()

    try:
        second = differentiated(wanted)
    except RuntimeError:  # this operator's gradients cannot be differentiated
        return
    assert all(map(_same, differentiated(found), second))


def _mlp() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))


def test_of_many_rows_is_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    run = _gradients._callbacks.run
    monkeypatch.setattr(_gradients._callbacks, "run", lambda *given: passes.append(given) or run(*given))
    x = torch.randn(5, requires_grad=True)
    (found,) = torch.autograd.grad(_mlp()(x), x, torch.eye(3).repeat(20, 1), retain_graph=True, is_grads_batched=True)
    assert found.shape == (60, 5)
    assert len(passes) == 1
    pull = torch.func.vjp(_mlp(), x.detach())[1]
    torch.func.vmap(pull)(torch.randn(50, 3))
    assert len(passes) == 2


def test_the_graph_goes_where_it_may_not_stay() -> None:
    x = torch.randn(5, requires_grad=True)
    y = x.exp()
    torch.autograd.grad(y, x, torch.randn(20, 5), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_what_has_no_meaning_for_a_batch_is_done_row_by_row() -> None:
    seen = []

    class Each(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            seen.append(float(gradient.sum()))  # of a batch there is none
            return gradient * 2

    x = torch.randn(3, requires_grad=True)
    vectors = torch.arange(36.0).view(12, 3)
    (found,) = torch.autograd.grad(Each.apply(x), x, vectors, is_grads_batched=True)
    assert torch.equal(found, vectors * 2)
    assert seen[-12:] == vectors.sum(1).tolist()


def test_an_error_is_that_of_a_row() -> None:
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
        torch.autograd.grad(x.exp(), (x, y), torch.randn(20, 3), is_grads_batched=True)


def test_dispatch_is_in_use_no_longer_than_there_is_somebody_to_ask() -> None:
    """The kernels that compute a loss at once ask for no parts again."""
    from torch.utils._python_dispatch import TorchDispatchMode

    asked = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.randn(4, requires_grad=True)
    with Seen():
        torch.autograd.grad(x.exp(), x, torch.randn(20, 4), is_grads_batched=True)
    count = len(asked)
    assert count
    torch.autograd.grad(x.exp(), x, torch.randn(20, 4), is_grads_batched=True)
    assert len(asked) == count
