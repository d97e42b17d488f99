"""CUDA graphs: what is recorded does nothing; replayed, it does it again, with new inputs and random numbers."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


def test_replays_work_on_new_inputs() -> None:
    inputs = torch.zeros(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        outputs = (inputs + 1) * 2
    assert not torch.cuda.is_current_stream_capturing()
    for value in range(5):
        inputs.fill_(value)
        graph.replay()
        assert outputs.eq(2 * (value + 1)).all()


def test_memory_of_a_graph_is_its_own() -> None:
    inputs = torch.ones(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        between = inputs + 1
        outputs = between * 2
        del between
    others = [torch.full((1000,), 7.0, device="cuda") for _ in range(20)]
    graph.replay()
    assert outputs.eq(4).all()
    assert all(other.eq(7).all() for other in others)
    pool = graph.pool()
    assert torch.cuda.memory_snapshot(pool)
    del outputs
    graph.reset()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_snapshot(pool) == []


def test_streams_join_a_record() -> None:
    inputs = torch.ones(1000, device="cuda")
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph):
        doubled = inputs * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            assert torch.cuda.is_current_stream_capturing()
            tripled = inputs * 3
        torch.cuda.current_stream().wait_stream(side)
        outputs = doubled + tripled
    inputs.fill_(2)
    graph.replay()
    assert outputs.eq(10).all()


def test_random_numbers_go_on() -> None:
    torch.cuda.manual_seed(5)
    expected = [torch.rand(100, device="cuda") for _ in range(4)]
    torch.cuda.manual_seed(5)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        first, second = torch.rand(100, device="cuda"), torch.rand(100, device="cuda")
    for one, other in (expected[:2], expected[2:]):
        graph.replay()
        assert torch.equal(first, one)
        assert torch.equal(second, other)
    after = torch.rand(100, device="cuda")
    assert not any(torch.equal(after, one) for one in expected)


def test_waiting_breaks_a_record() -> None:
    inputs = torch.ones(10, device="cuda")
    with pytest.raises(RuntimeError, match="CUDA error"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        inputs.sum().item()
    graph = torch.cuda.CUDAGraph()  # and leaves the device usable
    with torch.cuda.graph(graph):
        outputs = inputs + 1
    graph.replay()
    assert outputs.eq(2).all()


def test_errors_are_pytorchs() -> None:
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="replay without a preceding successful capture"):
        graph.replay()
    with pytest.raises(RuntimeError, match="pool\\(\\) without a preceding successful capture"):
        graph.pool()
    with pytest.raises(RuntimeError, match="must be captured on a non-default stream"):
        graph.capture_begin()
    with (
        pytest.raises(RuntimeError, match="Unknown capture error mode"),
        torch.cuda.graph(graph, capture_error_mode="x"),
    ):
        pass
    with torch.cuda.graph(graph):
        torch.ones(1, device="cuda")
    with pytest.raises(RuntimeError, match="already owns a captured graph"), torch.cuda.graph(graph):
        pass


def _steps(model: nn.Module, inputs: list[torch.Tensor], train: Any) -> list[float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for values in inputs:
        optimizer.zero_grad()
        loss = train(values).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_graphed_modules_train_like_others() -> None:
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).cuda()
    graphed = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).cuda()
    graphed.load_state_dict(plain.state_dict())
    inputs = [torch.randn(3, 4, device="cuda", requires_grad=True) for _ in range(4)]
    expected = _steps(plain, inputs, plain)
    gradients = [value.grad for value in inputs]
    for value in inputs:
        value.grad = None
    sample = torch.randn(3, 4, device="cuda", requires_grad=True)
    recorded = torch.cuda.make_graphed_callables(graphed, (sample,))
    assert recorded is graphed
    assert _steps(graphed, inputs, recorded) == pytest.approx(expected)
    for value, gradient in zip(inputs, gradients, strict=True):
        torch.testing.assert_close(value.grad, gradient)


def test_graphed_functions_follow_each_other() -> None:
    sample = torch.ones(5, device="cuda", requires_grad=True)
    double, square = torch.cuda.make_graphed_callables(
        (lambda x: x * 2, lambda x: (x * x, x + 1)), ((sample,), (sample.detach().requires_grad_(),))
    )
    leaf = torch.arange(5.0, device="cuda").requires_grad_()
    first, second = square(double(leaf))
    (first + second).sum().backward()
    assert leaf.grad is not None
    assert first.tolist() == [0, 4, 16, 36, 64]
    assert leaf.grad.tolist() == [2, 10, 18, 26, 34]
