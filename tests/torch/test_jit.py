"""TorchScript's names and torch.compile: what is handed over comes back, and runs."""

from __future__ import annotations

import typing
from typing import Any

import pytest

import torch
from torch import jit

if typing.TYPE_CHECKING:
    from collections.abc import Callable


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_decorators_return_what_they_decorate() -> None:
    def function(x: int) -> int:
        return x + 1

    decorators: list[Callable[..., Any]] = [
        jit.script,
        jit.export,
        jit.ignore,
        jit.ignore(drop=True),
        jit.unused,
        jit.trace,
        torch.compiler.disable,
        torch.compiler.disable(),
        torch._dynamo.disable,
        torch.compiler.allow_in_graph,
    ]
    for decorator in decorators:
        assert decorator(function) is function
    module = Doubled()
    assert jit.script(module) is module
    assert jit.trace(module, torch.ones(1)) is module
    assert jit.interface(Doubled) is Doubled
    assert jit.script_if_tracing(function)(1) == 2
    assert not jit.is_scripting()
    assert not jit.is_tracing()
    assert jit.annotate(int | None, 3) == 3
    with pytest.raises(RuntimeError, match="bool or a function"):
        jit.ignore(3)


def test_saving_needs_a_compiler() -> None:
    for call in (lambda: jit.save(Doubled(), "x"), lambda: jit.load("x"), jit.CompilationUnit):
        with pytest.raises(NotImplementedError, match="state_dict"):
            call()
    with pytest.raises(RuntimeError, match="expects a ScriptModule"):
        jit.freeze(Doubled())


def test_isinstance_looks_into_containers() -> None:
    assert jit.isinstance([1], typing.List[int])  # noqa: UP006
    assert not jit.isinstance([1, "a"], list[int])
    assert jit.isinstance({"a": 1}, dict[str, int])
    assert jit.isinstance((1, "a"), tuple[int, str])
    assert jit.isinstance(None, int | None)
    assert jit.isinstance(1, (str, int))
    with pytest.raises(RuntimeError, match="without contained types"):
        jit.isinstance([1], list)


def test_futures() -> None:
    assert jit.wait(jit.fork(lambda x: x + 1, 2)) == 3
    one: torch.futures.Future[int] = torch.futures.Future()
    seen: list[int] = []
    one.add_done_callback(lambda future: seen.append(future.value()))
    doubled = one.then(lambda future: future.wait() * 2)
    failing = one.then(lambda future: 1 / 0)
    assert not one.done()
    one.set_result(4)
    assert (one.wait(), doubled.wait(), seen) == (4, 8, [4])
    with pytest.raises(ZeroDivisionError):
        failing.wait()
    with pytest.raises(RuntimeError, match="once"):
        one.set_result(5)
    assert torch.futures.wait_all([one, doubled]) == [4, 8]
    assert torch.futures.collect_all([]).wait() == []


def test_compiled_modules_are_wrapped_as_in_pytorch() -> None:
    module = torch.nn.Linear(2, 2)
    compiled = torch.compile(module, mode="reduce-overhead")
    x = torch.ones(1, 2)
    assert torch.equal(compiled(x), module(x))
    assert isinstance(compiled, torch._dynamo.OptimizedModule)
    assert compiled._orig_mod is module
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert compiled.weight is module.weight
    compiled.eval()
    assert not module.training
    assert not compiled.training
    compiled.extra = 3
    assert module.extra == 3
    module.compile(fullgraph=True)
    assert torch.equal(compiled(x), module(x))


def test_compiled_functions() -> None:
    @torch.compile(dynamic=True)
    def twice(x: Any) -> Any:
        """Twice x."""
        return x * 2

    assert twice(3) == 6
    assert twice.__doc__ == "Twice x."
    assert torch.compile(abs, disable=True) is abs
    assert not torch.compiler.is_compiling()
    assert "inductor" in torch.compiler.list_backends()
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(abs, mode="default", options={})
    with pytest.raises(RuntimeError, match="Unrecognized mode"):
        torch.compile(abs, mode="fast")
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="nothing"):
        torch.compile(abs, backend="nothing")
    with pytest.raises(NotImplementedError, match="no graph"):
        torch.compile(abs, backend=lambda graph, inputs: graph)


def test_compile_says_once_that_it_compiles_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_COMPILE_DEBUG", "1")
    monkeypatch.setattr("torch._compile._said", False)
    torch.compile(abs)
    torch.compile(abs)
    assert capsys.readouterr().err.count("nothing is compiled") == 1
