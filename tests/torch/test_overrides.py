"""Classes and modes that answer for functions of torch. The names that they are asked for are PyTorch's."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import torch
from torch import overrides
from torch.nn import functional

CALLS: list[tuple[str, int, list[str]]] = []


class Logged(torch.Tensor):
    """Notes what it is asked for, then does what Tensor does."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        CALLS.append((func.__name__, len(args), sorted(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs)


class Foreign:
    """No tensor, but part of the protocol."""

    def __init__(self, answer: Any = "answered") -> None:
        self.answer = answer

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        instances = [item for item in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(item, Foreign)]
        return instances[0].answer


def logged(*shape: int) -> Any:
    return torch.arange(1.0, 1.0 + torch.Size(shape).numel()).reshape(shape).as_subclass(Logged)


P = torch.ones(2, 2)
EXPRESSIONS: dict[str, tuple[Any, list[tuple[str, int, list[str]]]]] = {
    "x + p": (lambda x: x + P, [("add", 2, [])]),
    "p + x": (lambda x: P + x, [("add", 2, [])]),
    "1 + x": (lambda x: 1 + x, [("add", 2, [])]),
    "1 - x": (lambda x: 1 - x, [("__rsub__", 2, [])]),
    "2 ** x": (lambda x: 2**x, [("__rpow__", 2, [])]),
    "x @ p": (lambda x: x @ P, [("matmul", 2, [])]),
    "p < x": (lambda x: P < x, [("gt", 2, [])]),  # noqa: SIM300
    "x == 1": (lambda x: x == 1, [("__eq__", 2, [])]),
    "-x": (lambda x: -x, [("neg", 1, [])]),
    "x[0]": (lambda x: x[0], [("__getitem__", 2, [])]),
    "p[x > 1]": (lambda x: P[x > 1], [("gt", 2, []), ("__getitem__", 2, [])]),
    "x.T": (lambda x: x.T, [("__get__", 1, [])]),
    "x.sum(0)": (lambda x: x.sum(0), [("sum", 2, [])]),
    "x.clone()": (lambda x: x.clone(), [("clone", 1, [])]),
    "x.double()": (lambda x: x.double(), [("double", 1, [])]),
    "x.norm()": (lambda x: x.norm(), [("norm", 1, ["dim", "dtype", "keepdim", "p"])]),
    "add": (lambda x: torch.add(P, x, alpha=2), [("add", 2, ["alpha"])]),
    "cat": (lambda x: torch.cat([P, x]), [("cat", 1, [])]),
    "relu": (lambda x: functional.relu(x), [("relu", 1, ["inplace"])]),
    "linear": (lambda x: functional.linear(x, P), [("linear", 2, [])]),
    "layer_norm": (lambda x: functional.layer_norm(x, (2,)), [("layer_norm", 2, ["bias", "eps", "weight"])]),
    "module": (lambda x: torch.nn.Linear(2, 3)(x), [("linear", 3, [])]),
    "einsum": (lambda x: torch.einsum("ij->i", x), [("einsum", 2, [])]),
    "out": (lambda x: torch.add(P, P, out=x), [("add", 2, ["out"])]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_subclasses_are_asked_and_kept(name: str) -> None:
    function, expected = EXPRESSIONS[name]
    x = logged(2, 2)
    CALLS.clear()
    result = function(x)
    assert expected == CALLS
    assert type(result) is Logged
    plain = function(x.as_subclass(torch.Tensor))
    assert type(plain) is torch.Tensor
    if name != "module":
        assert torch.equal(result.as_subclass(torch.Tensor), plain)


def test_results_that_are_no_tensors_or_several() -> None:
    x = logged(2, 2)
    assert [type(part) for part in x.max(0)] == [Logged, Logged]
    assert type(x.max(0)) is torch.return_types.max
    assert [type(part) for part in x.split(1)] == [Logged, Logged]
    assert (x.shape, len(x), x.dim(), float(x[0, 0]), bool(x[0, 0])) == (torch.Size([2, 2]), 2, 2, 1.0, True)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    x[0, 0] = 7.0
    x += 1
    assert type(x) is Logged
    assert x.tolist() == [[8.0, 3.0], [4.0, 5.0]]


def test_gradients_flow_through_subclasses() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    loss = (weight.as_subclass(Logged) * logged(2, 2)).sum()
    assert type(loss) is Logged
    loss.backward()
    assert weight.grad.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    leaf = torch.Tensor._make_subclass(Logged, torch.ones(2), True)
    assert type(leaf) is Logged
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0]


def test_subclasses_are_copied_and_pickled() -> None:
    x = logged(2)
    x.note = "kept"
    again = copy.deepcopy(x)
    assert (type(again), again.note, again.tolist()) == (Logged, "kept", [1.0, 2.0])
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert (type(loaded), loaded.note, loaded.tolist()) == (Logged, "kept", [1.0, 2.0])


def test_parameters_of_subclasses() -> None:
    parameter = torch.nn.Parameter(logged(2))
    assert type(parameter) is Logged
    assert isinstance(parameter, torch.nn.Parameter)
    assert parameter.requires_grad
    module = torch.nn.Module()
    module.weight = parameter
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    assert not isinstance(logged(2), torch.nn.Parameter)
    assert type(torch.nn.Parameter(torch.ones(2)) + 1) is torch.Tensor


def test_classes_that_are_no_tensors() -> None:
    x = torch.ones(2)
    one = Foreign()
    for call in (
        lambda: torch.add(one, 1),
        lambda: torch.cat([x, one]),
        lambda: x + one,
        lambda: x[one],
        lambda: torch.zeros((1, one)),
        lambda: x.view(2, one),
        lambda: functional.relu(one),
        lambda: functional.cross_entropy(x, one),
        lambda: torch.einsum("i", one),
    ):
        assert call() == "answered"
    nobody = Foreign(NotImplemented)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers"):
        torch.add(nobody, 1)
    with pytest.raises(TypeError, match=r"no implementation found for 'torch.nn.functional.relu' on types"):
        functional.relu(nobody)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'Foreign'"):
        x + nobody


def test_subclasses_are_asked_before_their_superclasses() -> None:
    asked: list[str] = []

    class Base(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(cls.__name__)
            return NotImplemented

    class Derived(Base):
        pass

    with pytest.raises(TypeError, match="Derived"):
        torch.stack([torch.ones(1).as_subclass(Base), torch.ones(1).as_subclass(Derived)])
    assert asked == ["Derived", "Base"]


def test_modes() -> None:
    seen: list[str] = []

    class Mode(overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            self.name = name

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(f"{self.name} {func.__name__}")
            return func(*args, **(kwargs or {}))

    with Mode("outer"), Mode("inner"):
        x = torch.zeros(2)
        torch.tensor([1.0])
        functional.relu(x) + 1
    assert seen == [f"{mode} {name}" for name in ("zeros", "tensor", "relu", "add") for mode in ("inner", "outer")]
    seen.clear()
    torch.zeros(2)
    assert seen == []
    with Mode("one"), torch._C.DisableTorchFunctionSubclass():
        torch.zeros(2)
    assert seen == ["one zeros"]
    with Mode("none"), torch._C.DisableTorchFunction():
        torch.zeros(2)
    assert seen == ["one zeros"]


def test_switching_off() -> None:
    with torch._C.DisableTorchFunctionSubclass():
        assert not torch._C._is_torch_function_enabled()
        assert type(logged(2) + 1) is torch.Tensor
    assert torch._C._is_torch_function_enabled()


def test_functions_of_overrides() -> None:
    x = logged(2)
    assert overrides.has_torch_function((1, x))
    assert overrides.has_torch_function_unary(x)
    assert not overrides.has_torch_function_variadic(torch.ones(1), torch.nn.Parameter(torch.ones(1)), 3, "text")
    assert overrides.is_tensor_like(Foreign())
    assert not overrides.is_tensor_like(3)
    assert overrides.resolve_name(torch.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(functional.relu) == "torch.nn.functional.relu"
    assert overrides.resolve_name(torch.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)
    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch]
    assert functional.cross_entropy in functions[torch.nn.functional]
    assert torch.tensor not in functions[torch]
    assert overrides.get_testing_overrides()[torch.add](1, 2, 3) == -1

    @overrides.wrap_torch_function(lambda value: (value,))
    def own(value: Any) -> Any:
        return "own"

    assert own(1) == "own"
    assert own(Foreign()) == "answered"


def test_every_overridable_function_of_tensors_asks() -> None:
    """A value that answers, put first, is asked by everything that says so."""
    answering = Foreign()
    silent = []
    for function in overrides.get_overridable_functions()[torch]:
        try:
            answer = function(answering)
        except TypeError:
            answer = None
        if answer != "answered":
            silent.append(function.__name__)
    assert silent == []


def test_redispatch_skips_one_level() -> None:
    names: list[str] = []

    class Subclass(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(func.__name__)
            return overrides.redispatch_function(func, types, args, kwargs)

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(func.__name__)
            with self:
                return overrides.redispatch_function(func, types, args, kwargs)

    def scaled(a: Any, b: Any) -> Any:
        if overrides.has_torch_function((a, b)):
            return overrides.handle_torch_function(scaled, (a, b), a, b)
        return a * b + 1

    a, b = torch.tensor([3.0]), torch.tensor([4.0])
    assert scaled(a.as_subclass(Subclass), b.as_subclass(Subclass)).item() == 13
    assert names == ["scaled", "mul"]
    names.clear()
    with Mode():
        assert scaled(a, b).shape == (1,)
    assert names[:3] == ["scaled", "mul", "add"]
