"""Activations computed again: both kinds of checkpoint, nested, with random numbers, and what goes wrong."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

both_kinds = pytest.mark.parametrize("use_reentrant", [True, False])


class Counted(torch.nn.Module):
    """Layers that count how often they run."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 4)
        )
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        result: Tensor = self.layers(x)
        return result


def gradients(model: torch.nn.Module, x: Tensor, run: Any) -> list[Tensor]:
    model.zero_grad()
    x.grad = None
    torch.manual_seed(1)
    run(x).square().sum().backward()
    return [x.grad, *(parameter.grad for parameter in model.parameters())]  # type: ignore[list-item]


@both_kinds
def test_gradients_are_those_of_the_function(use_reentrant: bool) -> None:
    model, x = Counted(), torch.randn(3, 4, requires_grad=True)
    expected = gradients(model, x, model)
    found = gradients(model, x, lambda x: checkpoint(model, x, use_reentrant=use_reentrant))
    assert model.calls == 3
    for one, two in zip(found, expected, strict=True):
        assert torch.equal(one, two)


@both_kinds
def test_the_random_state_goes_on_as_if_nothing_was_run_again(use_reentrant: bool) -> None:
    x = torch.ones(4, requires_grad=True)
    torch.manual_seed(0)
    result = checkpoint(lambda x: x * torch.rand(4), x, use_reentrant=use_reentrant)
    expected = torch.get_rng_state()
    result.sum().backward()
    assert torch.equal(x.grad, result.detach())
    assert torch.equal(torch.get_rng_state(), expected)
    checkpoint(lambda x: x * torch.rand(4), x, use_reentrant=use_reentrant, preserve_rng_state=False).sum().backward()
    assert not torch.equal(torch.get_rng_state(), expected)


def test_what_only_the_kind_without_reentrance_can() -> None:
    model, x = Counted().eval(), torch.randn(3, 4, requires_grad=True)
    weight = model.layers[0].weight
    output = checkpoint(model, x=x.detach(), use_reentrant=False)  # keyword arguments, no input with a gradient
    (gradient,) = torch.autograd.grad(output.sum(), weight, retain_graph=True)
    assert torch.equal(gradient, torch.autograd.grad(model(x).sum(), weight)[0])
    assert torch.equal(gradient, torch.autograd.grad(output.sum(), weight)[0])  # a second time
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        output.sum().backward()

    y = checkpoint(lambda d: {"out": d["x"].exp()}, {"x": x}, use_reentrant=False)["out"].sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    assert torch.allclose(torch.autograd.grad(first.sum(), x)[0], x.exp())


def test_nested() -> None:
    calls: list[str] = []

    def inner(x: Tensor) -> Tensor:
        calls.append("inner")
        return x.sin().exp()

    def outer(x: Tensor) -> Tensor:
        calls.append("outer")
        return checkpoint(inner, x.cos(), use_reentrant=False).sin()

    x = torch.randn(4, requires_grad=True)
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    found, x.grad = x.grad, None
    assert calls.count("outer") == 2
    x.cos().sin().exp().sin().sum().backward()
    assert torch.allclose(found, x.grad)
    x.grad = None
    three = checkpoint(lambda x: checkpoint(outer, x.tanh(), use_reentrant=False), x, use_reentrant=False)
    three.sum().backward()
    found, x.grad = x.grad, None
    x.tanh().cos().sin().exp().sin().sum().backward()
    assert torch.allclose(found, x.grad)


@pytest.mark.parametrize("early_stop", [True, False])
def test_early_stop(early_stop: bool) -> None:
    ends: list[int] = []

    def function(x: Tensor) -> Tensor:
        y = x.exp()
        ends.append(1)
        return y + 1

    x = torch.ones(2, requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        y = checkpoint(function, x, use_reentrant=False)
    y.sum().backward()
    assert len(ends) == (1 if early_stop else 2)


def test_contexts() -> None:
    seen: list[str] = []

    @contextmanager
    def note(name: str) -> Iterator[None]:
        seen.append(name)
        yield

    x = torch.ones(2, requires_grad=True)
    y = checkpoint(torch.exp, x, use_reentrant=False, context_fn=lambda: (note("first"), note("again")))
    assert seen == ["first"]
    y.sum().backward()
    assert seen == ["first", "again"]


def changing(first: Any, then: Any, **options: Any) -> None:
    """Runs a function that is another one the second time."""
    calls: list[int] = []

    def function(x: Tensor) -> Tensor:
        calls.append(1)
        result: Tensor = (first if len(calls) == 1 else then)(x)
        return result

    checkpoint(function, torch.ones(3, requires_grad=True), use_reentrant=False, **options).sum().backward()


def test_another_second_run() -> None:
    with pytest.raises(
        CheckpointError, match=r"different number[^!]*forward: 2\nNumber of tensors saved during recomputation: 1"
    ):
        changing(lambda x: x.sin().cos(), lambda x: x.sin())
    with pytest.raises(CheckpointError, match="more tensors during recomputation"), set_checkpoint_early_stop(False):
        changing(lambda x: x.sin(), lambda x: x.sin().cos())
    with pytest.raises(
        CheckpointError, match=r"different metadata[^!]*position 1:\nsaved metadata: \{'shape': torch.Size\(\[3\]"
    ):
        changing(lambda x: x.sin().cos(), lambda x: x.sin().repeat(2).cos())
    with pytest.raises(ValueError, match=r"determinism_check should be one of \['default', 'none'\], but got foo"):
        changing(torch.sin, torch.sin, determinism_check="foo")
    with pytest.raises(CheckpointError) as caught, set_checkpoint_debug_enabled(True):
        changing(lambda x: x.sin(), lambda x: x.double().sin())
    assert "Tip: To see a more detailed error" not in str(caught.value)


def test_what_reentrance_cannot() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="incompatible with"):
        torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint(torch.sin, x, use_reentrant=True, foo=1)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.sin, x, use_reentrant=True, debug=True)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.sin, torch.ones(2), use_reentrant=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.sin, x)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        checkpoint(lambda x: x.detach(), x, use_reentrant=True).sum().backward()


@both_kinds
def test_sequences(use_reentrant: bool) -> None:
    model, x = Counted(), torch.randn(3, 4, requires_grad=True)
    expected = gradients(model, x, model)
    found = gradients(model, x, lambda x: checkpoint_sequential(model.layers, 2, x, use_reentrant=use_reentrant))
    for one, two in zip(found, expected, strict=True):
        assert torch.equal(one, two)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: foo"):
        checkpoint_sequential(model.layers, 2, x, use_reentrant=use_reentrant, foo=2)
