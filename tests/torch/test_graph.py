"""torch.autograd.graph, anomaly mode, and profiles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch.autograd import graph
from torch.profiler import ProfilerAction, profile, record_function, schedule, tensorboard_trace_handler

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_saved_can_be_packed() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    packed: list[Any] = []

    def pack(tensor: Any) -> Any:
        packed.append(tensor.tolist())
        return len(packed) - 1

    with graph.saved_tensors_hooks(pack, lambda place: torch.tensor(packed[place])):
        y = x.exp() * x
    assert len(packed) == 3
    gradient, second = torch.autograd.grad(y.sum(), x, create_graph=True)[0], None
    assert torch.allclose(gradient, x.exp() * (x + 1))
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert torch.allclose(second, x.exp() * (x + 2))
    (x * x).sum().backward()
    assert len(packed) == 3


def test_packing_in_modules_and_on_the_cpu() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    x = torch.randn(2, 3)
    model(x).sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with graph.save_on_cpu():
        loss = model(x).sum()
    loss.backward()
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert torch.equal(parameter.grad, gradient)


def test_hooks_of_what_is_saved_that_fail() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="from pack"), graph.saved_tensors_hooks(_raise, lambda t: t):
        x.exp()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor"):
        y.sum().backward()
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass


def _raise(tensor: Any) -> Any:
    raise ValueError("from pack")


def test_nodes() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    node = y.grad_fn
    assert torch.equal(node(torch.ones(2)), y)
    seen: list[Any] = []
    after = node.register_hook(lambda made, entered: seen.append((made, entered)))
    before = node.register_prehook(lambda entered: (entered[0] * 2,))
    y.sum().backward(retain_graph=True)
    assert torch.allclose(x.grad, 2 * y)
    assert torch.equal(seen[0][1][0], torch.full((2,), 2.0))
    assert torch.equal(seen[0][0][0], x.grad)
    before.remove()
    after.remove()
    x.grad = None
    y.sum().backward()
    assert torch.allclose(x.grad, y)
    assert len(seen) == 1
    z = x * 3
    z.grad_fn.register_hook(lambda made, entered: (made[0] * 10, *made[1:]))
    z.sum().backward()
    assert torch.allclose(x.grad, y + 30)
    edge = graph.get_gradient_edge(x)
    assert edge.node.variable is x
    assert tuple(graph.get_gradient_edge(z))[:2] == (z.grad_fn, 0)


def test_hooks_of_several_tensors() -> None:
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    seen: list[Any] = []
    with graph.register_multi_grad_hook((a, b), seen.append):
        (a * 2 + b * 3).backward()
    assert [gradient.item() for gradient in seen[0]] == [2.0, 3.0]
    (a * 2 + b * 3).backward()
    assert len(seen) == 1
    with graph.register_multi_grad_hook((a, b), lambda found: seen.append([one is None for one in found])):
        (a * 2).backward()  # b has no part in this one
        (a * 2 + b).backward()
    assert seen[1:] == [[False, True], [False, False]]
    seen.clear()
    with graph.register_multi_grad_hook((a, b), seen.append, mode="any"):
        (a * 2 + b * 3).backward()
        (b * 3).backward()
    assert len(seen) == 2
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((a,), seen.append, mode="none")


def test_edges_stand_for_tensors() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    total = y.exp().sum()
    assert torch.equal(torch.autograd.grad(total, graph.get_gradient_edge(y), retain_graph=True)[0], y.exp())
    assert torch.equal(torch.autograd.grad(graph.get_gradient_edge(total), x)[0], 2 * y.exp())
    assert torch.autograd.grad((x * 3).sum(), graph.get_gradient_edge(x))[0].tolist() == [3, 3, 3]
    edge = graph.get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        torch.autograd.grad(edge, x)
    assert torch.autograd.grad(edge, x, torch.ones(3))[0].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(2))


def test_what_nodes_show_of_what_they_saved() -> None:
    x = torch.ones(3, 2, requires_grad=True)
    assert x.sum(0).grad_fn._saved_dim == (0,)
    assert x.sum(0).grad_fn._saved_self_sym_sizes == (3, 2)
    y = x.exp()
    assert torch.equal(y.grad_fn._saved_result, y)
    assert "_saved_result" in dir(y.grad_fn)
    assert x.pow(2.5).grad_fn._saved_exponent == 2.5
    assert x.pow(2.5).grad_fn._saved_self is x
    assert (x * 2).grad_fn._saved_self is None
    assert torch.equal(x[torch.tensor([0, 1])].grad_fn._saved_indices[0], torch.tensor([0, 1]))
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = y.grad_fn._saved_result
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = y.grad_fn._saved_nothing


def test_tensors_that_are_saved_may_be_written() -> None:
    x = torch.ones(2, requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        result = (y**2).sum()
        y.sin_()
        result.backward()
    assert x.grad.tolist() == [2, 2]
    z = (x * 2).exp()
    graph.increment_version(z)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match=r"Iterable\[Tensor\]"):
        graph.increment_version(3)  # type: ignore[arg-type]


def test_batches_of_gradients() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    rows = torch.eye(2)
    assert torch.autograd.grad(y, x, rows, is_grads_batched=True, retain_graph=True)[0].tolist() == [[2, 0], [0, 4]]
    with pytest.raises(
        RuntimeError, match="we interpret the first dimension of each grad_output as the batch dimension"
    ):
        torch.autograd.grad(y, x, torch.ones(2, 3), is_grads_batched=True)
    other = torch.ones(1, requires_grad=True)
    found = torch.autograd.grad(y, (x, other), torch.ones(2), materialize_grads=True)
    assert found[1].tolist() == [0]


def test_anomaly_mode() -> None:
    x = torch.zeros(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        assert torch.is_anomaly_enabled()
        message = "Function 'SqrtBackward0' returned nan values in its 0th output"
        with pytest.raises(RuntimeError, match=message), pytest.warns(UserWarning, match="Error detected in") as warned:
            (x.sqrt() * 0).sum().backward()
        text = str(warned[0].message)
        assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:")
        assert "(x.sqrt() * 0).sum().backward()" in text
    assert not torch.is_anomaly_enabled()
    (x.sqrt() * 0).sum().backward()
    assert x.grad.isnan().all()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0).sum().backward()


def test_profiles(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    with profile(record_shapes=True) as run, record_function("mine"):
        torch.nn.functional.softmax(model(torch.ones(4, 3)), -1)
    rows = {row.key: row for row in run.key_averages()}
    assert list(rows) == ["mine", "aten::ones", "aten::linear", "aten::softmax"]
    assert rows["aten::softmax"].count == 2  # the function written in Python, and the operator inside
    assert rows["mine"].cpu_time_total >= rows["aten::linear"].cpu_time_total > 0
    assert sum(row.self_cpu_time_total for row in rows.values()) == pytest.approx(rows["mine"].cpu_time_total)
    shapes = [event.input_shapes for event in run.events() if event.name == "aten::linear"]
    assert shapes == [[[4, 3], [2, 3], [2]]]
    table = run.key_averages().table(sort_by="self_cpu_time_total")
    assert "aten::linear" in table
    shortened = run.key_averages().table(sort_by="self_cpu_time_total", row_limit=2)
    assert len(shortened.splitlines()) == len(table.splitlines()) - 2
    assert "Self CPU time total" in table
    run.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert [event["name"] for event in trace["traceEvents"]][:2] == ["mine", "aten::ones"]


def test_profiles_by_steps(tmp_path: Path) -> None:
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(step) for step in range(5)] == [
        ProfilerAction.NONE,
        ProfilerAction.WARMUP,
        ProfilerAction.RECORD,
        ProfilerAction.RECORD_AND_SAVE,
        ProfilerAction.NONE,
    ]
    with profile(schedule=plan, on_trace_ready=tensorboard_trace_handler(str(tmp_path), "worker")) as run:
        for _ in range(6):
            torch.ones(2) + 1
            run.step()
    assert [event.name for event in run.events()] == [
        "ProfilerStep#2",
        "aten::ones",
        "aten::add",
        "ProfilerStep#3",
        "aten::ones",
        "aten::add",
    ]
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("worker.")
    assert file.name.endswith(".pt.trace.json")


def test_results_require_gradients_already() -> None:
    """`x.clone().requires_grad_()` is what libraries write in their own backward functions."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert y.requires_grad_() is y
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"of leaf variables\. If you want to use a computed variable"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"of leaf variables\.$"):
        y.requires_grad = True
