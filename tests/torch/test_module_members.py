"""Attributes of modules: what finds parameters fast finds what `Module.__getattr__` would, whatever a class adds."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import nn


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.part = nn.Identity()
        self.register_buffer("count", torch.zeros(1))
        self.register_parameter("nothing", None)
        self.plain = 3

    @property
    def broken(self) -> Any:
        raise AttributeError("inside the property")

    @property
    def refused(self) -> Any:
        raise ValueError("no")


def test_members_are_found() -> None:
    module = Parts()
    assert module.weight is module._parameters["weight"]
    assert module.part is module._modules["part"]
    assert module.count is module._buffers["count"]
    assert module.nothing is None
    assert module.plain == 3
    assert getattr(module, "absent", 5) == 5
    with pytest.raises(AttributeError, match=r"^'Parts' object has no attribute 'absent'$"):
        _ = module.absent
    with pytest.raises(AttributeError, match="no attribute 'broken'"):
        _ = module.broken
    with pytest.raises(ValueError, match="no"):
        _ = module.refused
    with pytest.raises(AttributeError, match="no attribute 'weight'"):
        _ = Parts.__new__(Parts).weight


def test_no_call_of_python_finds_a_member() -> None:
    asked: list[str] = []

    class Listening(Parts):
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return super().__getattr__(name)

    own, module = Listening(), Parts()
    asked.clear()
    assert torch.equal(own.weight, torch.ones(2))  # a class that has its own is asked
    assert asked == ["weight"]
    usual = nn.Module.__getattr__

    def listening(self: Any, name: str) -> Any:
        asked.append(name)
        return usual(self, name)

    try:
        nn.Module.__getattr__ = listening
        assert module.part is module._modules["part"]
        assert asked == ["weight", "part"]
    finally:
        nn.Module.__getattr__ = usual
    calls = count_calls(lambda: module.weight)
    assert calls == ["__getattr__"]
    torch.fx.symbolic_trace(nn.Identity())  # puts its own there, and then the usual way back
    assert count_calls(lambda: module.weight) == []
    assert count_calls(lambda: own.weight) == ["__getattr__", "__getattr__"]


def count_calls(function: Any) -> list[str]:
    """The names of functions written in Python that it calls, lambdas left out."""
    import sys

    names: list[str] = []

    def trace(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<lambda>":
            names.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        function()
    finally:
        sys.setprofile(before)
    return names


def test_stores_that_look_by_themselves() -> None:
    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return super().__getitem__(name) * 2

    module = Parts()
    module._parameters = Watched(module._parameters)
    assert torch.equal(module.weight, torch.full((2,), 2.0))
    assert module.part is module._modules["part"]


def test_classes_with_their_own_ways() -> None:
    class Every(Parts):
        def __getattribute__(self, name: str) -> Any:
            return 7 if name == "absent" else super().__getattribute__(name)

    class Later(Parts):
        pass

    class Without(Parts):
        def __init_subclass__(cls) -> None:
            """Says nothing to Module."""

    class Below(Without):
        pass

    assert Every().absent == 7
    assert isinstance(Every().part, nn.Identity)
    assert isinstance(Below().part, nn.Identity)
    module = Later()
    Later.__getattr__ = lambda self, name: name  # type: ignore[method-assign, assignment]
    assert module.weight == "weight"
    del Later.__getattr__
    assert torch.equal(module.weight, torch.ones(2))
