"""`__torch_dispatch__`: modes and classes of tensors that answer for operators, below autograd."""

from __future__ import annotations

import copy
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from dispatch_cases import CASES, Names, names_of

import torch
from torch import nn
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    is_in_torch_dispatch_mode,
    return_and_correct_aliasing,
)
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode

aten = torch.ops.aten
ANSWERS: dict[str, str] = json.loads((Path(__file__).parent / "golden/dispatch.json").read_text(encoding="utf-8"))


class Scaled(torch.Tensor):
    """int8 values with one scale, of any class that PyTorch's documentation would write."""

    values: torch.Tensor
    scale: torch.Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, values: torch.Tensor, scale: torch.Tensor, requires_grad: bool = False) -> Scaled:
        made: Scaled = torch.Tensor._make_wrapper_subclass(
            cls, values.shape, strides=values.stride(), dtype=scale.dtype, requires_grad=requires_grad
        )
        return made

    def __init__(self, values: torch.Tensor, scale: torch.Tensor, requires_grad: bool = False) -> None:
        self.values, self.scale = values, scale

    def plain(self) -> torch.Tensor:
        return self.values.to(self.scale.dtype) * self.scale

    def __tensor_flatten__(self) -> Any:
        return ["values", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, parts: Any, context: Any, size: Any, stride: Any) -> Scaled:
        return cls(parts["values"], parts["scale"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (aten.detach.default, aten.clone.default):
            return cls(func(args[0].values), args[0].scale)
        if func is aten._to_copy.default:
            return cls(args[0].values.clone(), args[0].scale.to(**kwargs))
        if func is aten.t.default:
            return return_and_correct_aliasing(func, args, kwargs, cls(args[0].values.t(), args[0].scale))
        if func is aten.mul_.Tensor:
            args[0].scale = args[0].scale * args[1]
            return args[0]
        plain = tree_map(lambda value: value.plain() if isinstance(value, Scaled) else value, (args, kwargs or {}))
        return func(*plain[0], **plain[1])


def scaled(*size: int, requires_grad: bool = False) -> Scaled:
    torch.manual_seed(0)
    return Scaled(torch.randint(-127, 128, size, dtype=torch.int8), torch.tensor(0.01), requires_grad)


# ---------------------------------------------------------------------- what is seen

# What differs from PyTorch; docs/torch-dispatch.md says why.
DIFFERENT = {
    "batch @ w": "view.default mm.default view.default",
    "batch @ batch.mT": (
        "transpose.int expand.default view.default expand.default view.default bmm.default view.default"
    ),
    "linear of a batch": "t.default view.default addmm.default view.default",
    "linear of a batch without bias": "t.default view.default mm.default view.default",
    "rms_norm": "_normalize_rows.default",
    "batch_norm": "native_batch_norm.default",
    "interpolate": "_interpolate.default",
    "dropout": "empty_like.default bernoulli_.float div_.Tensor mul.Tensor",
}
# Of steps of training: the operators that PyTorch alone shows, and those that are shown here alone.
STEPS = {
    "a step of an MLP": ("", ""),
    "a step of a CNN": (
        "convolution_backward.default empty.memory_format max_pool2d_with_indices_backward.default "
        "native_batch_norm_backward.default",
        "_batch_norm_gradients.default _convolution_weight_gradient.default scatter_add_.default zeros.default",
    ),
    "a step of a transformer": (
        "_unsafe_view.default div.Scalar mul.Scalar native_layer_norm_backward.default select.int "
        "select_backward.default squeeze.dim unsqueeze.default",
        "_normalize_rows_gradient.default _normalize_rows_weight_gradient.default cat.default div.Tensor split.Tensor "
        "zeros.default",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_operators_of_a_call(case: str) -> None:
    names = names_of(case)
    if case not in STEPS:
        assert " ".join(names) == DIFFERENT.get(case, ANSWERS[case])
        return
    expected = ANSWERS[case].split()
    missing, extra = sorted({*expected} - {*names}), sorted({*names} - {*expected})
    assert (" ".join(missing), " ".join(extra)) == STEPS[case]


def test_what_differs_is_as_short_as_it_can_be() -> None:
    assert not [case for case, names in DIFFERENT.items() if names == ANSWERS[case]]


class Calls(TorchDispatchMode):
    """Keeps each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, types, args, kwargs))
        return func(*args, **(kwargs or {}))


def test_arguments_are_the_schema_s_without_defaults() -> None:
    x = torch.ones(2, 3)
    with Calls() as mode:
        x + 2
        torch.add(x, x, alpha=3)
        x.sum(1, keepdim=True)
        x.to(torch.float64)
        torch.full((2,), 5, dtype=torch.int64)
        nn.functional.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
        torch.gt(x, 1)
        torch.cat([x, x], 1)
    shown = [(str(func), args[1:] if args[0] is x else args, kwargs) for func, _, args, kwargs in mode.calls]
    assert shown[0] == ("aten.add.Tensor", (2,), {})
    assert shown[1][2] == {"alpha": 3}
    assert shown[2] == ("aten.sum.dim_IntList", ([1], True), {})
    assert shown[3] == ("aten._to_copy.default", (), {"dtype": torch.float64})
    assert shown[4] == ("aten.full.default", ([2], 5), {"dtype": torch.int64})
    assert shown[7][1][2:] == (None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    assert shown[8] == ("aten.gt.Scalar", (1,), {})
    assert shown[9][1][0][0] is x
    assert shown[9][1][1] == 1


def test_an_operator_says_what_it_is() -> None:
    func = aten.add.Tensor
    assert (str(func), repr(func)) == ("aten.add.Tensor", "<OpOverload(op='aten.add', overload='Tensor')>")
    assert (func.namespace, func.overloadpacket, func._overloadname) == ("aten", aten.add, "Tensor")
    assert (func.name(), func.__name__) == ("aten::add.Tensor", "add.Tensor")
    schema = func._schema
    assert (schema.name, schema.overload_name, schema.is_mutable) == ("aten::add", "Tensor", False)
    assert [item.name for item in schema.arguments] == ["self", "other", "alpha"]
    assert schema.arguments[2].kwarg_only
    assert schema.arguments[2].default_value == 1
    assert aten.add_.Tensor._schema.is_mutable
    assert aten.add.out._schema.arguments[-1].is_out
    assert aten.t.default.is_view
    assert not aten.add.Tensor.is_view
    assert isinstance(func, torch._ops.OpOverload)
    assert "Tensor" in aten.add.overloads()


def test_an_operator_is_called_by_its_schema() -> None:
    x = torch.tensor([[3.0, 1.0]])
    assert aten.add.Tensor(x, 2, alpha=2).tolist() == [[7.0, 5.0]]
    assert aten.gt.Scalar(x, 1).tolist() == [[True, False]]
    assert aten.sum.dim_IntList(x, [1]).tolist() == [4.0]
    assert aten.mul_.Tensor(x, 2) is x
    out = torch.empty(1, 2)
    assert aten.add.out(x, x, out=out) is out
    assert out.tolist() == [[12.0, 4.0]]
    assert aten.threshold_backward.default(x, torch.tensor([[0.0, 5.0]]), 0).tolist() == [[0.0, 2.0]]
    assert aten._softmax.default(x, 1, False).sum().item() == pytest.approx(1)
    with pytest.raises(TypeError, match=r"add\.Tensor.*do not fit"):
        aten.add.Tensor(x, "text")
    with pytest.raises(NotImplementedError, match=r"no operator torch\.ops\.aten\.nothing"):
        aten.nothing.default(x)


# ---------------------------------------------------------------------- modes


def test_what_looks_at_calls_knows_an_overload_by_its_operator() -> None:
    x = torch.ones(3, 4)
    with FlopCounterMode(display=False) as counter:
        torch.ops.aten.mm.default(x, x.t())
        torch.mm(x, x.t())
    assert counter.get_total_flops() == 2 * 72
    with torch.profiler.profile() as profile:
        torch.ops.aten.relu.default(x)
    assert [row.key for row in profile.key_averages()] == ["aten::relu"]


def test_modes_nest_and_are_set_aside_while_they_answer() -> None:
    order: list[str] = []

    class Named(TorchDispatchMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append(self.name)
            return func(*args, **(kwargs or {}))

    with Named("outer") as outer:
        with Named("inner") as inner:
            assert _get_current_dispatch_mode_stack() == [outer, inner]
            torch.ones(1)
            with _disable_current_modes():
                torch.ones(1)
                assert not is_in_torch_dispatch_mode()
            with no_dispatch():
                torch.ones(1)
        assert _get_current_dispatch_mode() is outer
        torch.ones(1)
        thread = threading.Thread(target=lambda: torch.ones(1))  # modes are a thread's own
        thread.start()
        thread.join()
    assert order == ["inner", "outer", "outer"]
    assert _get_current_dispatch_mode() is None


def test_a_mode_may_answer_otherwise() -> None:
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return torch.zeros_like(result) if func is aten.sin.default else result

    x = torch.ones(2, requires_grad=True)
    with Zeros():
        y = x.sin() + 1
    assert y.tolist() == [1.0, 1.0]
    y.sum().backward()  # the formula is that of sin
    assert x.grad is not None
    assert torch.allclose(x.grad, x.detach().cos())


def test_errors_pass_through_and_leave_no_mode_behind() -> None:
    class Broken(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is aten.sin.default:
                raise KeyError("mine")
            return NotImplemented if func is aten.cos.default else 5

    with pytest.raises(KeyError, match="mine"), Broken():
        torch.sin(X)
    with (
        pytest.raises(TypeError, match=r"(?s)Multiple dispatch failed for 'torch.ops.aten.cos.default'.*Broken"),
        Broken(),
    ):
        torch.cos(X)
    with pytest.raises(TypeError, match=r"__torch_dispatch__ returned int where aten::tan returns a Tensor"), Broken():
        torch.tan(X)
    assert not is_in_torch_dispatch_mode()


X = torch.ones(2)


def test_versions_count_one_write() -> None:
    x = torch.zeros(2)
    before = x._version
    with Names() as mode:
        x.add_(1)
    assert x._version == before + 1
    assert mode.names == ["add_.Tensor"]


def test_gradients_are_the_same_under_a_mode() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3), nn.LayerNorm(3)
    )
    x, target = torch.randn(4, 1, 6, 6), torch.tensor([0, 1, 2, 1])
    gradients = []
    for mode in (None, Names()):
        model.zero_grad()
        if mode is None:
            nn.functional.cross_entropy(model(x), target).backward()
        else:
            with mode:
                nn.functional.cross_entropy(model(x), target).backward()
            assert "convolution.default" in mode.names
        gradients.append([parameter.grad for parameter in model.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*gradients, strict=True))


def test_operators_of_programs_are_seen() -> None:
    @torch.library.custom_op("dispatch_test::twice", mutates_args=())
    def twice(x: torch.Tensor, times: float = 2.0) -> torch.Tensor:
        return x * times

    with Names() as mode:
        assert twice(X).tolist() == [2.0, 2.0]
    assert mode.names == ["dispatch_test.twice.default"]

    def rule(mode: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return args[0] * 10

    torch.library.register_torch_dispatch("dispatch_test::twice", Names, rule)
    with Names():
        assert twice(X).tolist() == [10.0, 10.0]


# ---------------------------------------------------------------------- tensors that wrap others


def test_a_wrapper_has_a_shape_and_no_memory() -> None:
    w = scaled(4, 8)
    assert (w.shape, w.dtype, w.device.type, w.stride(), w.numel()) == (
        torch.Size([4, 8]),
        torch.float32,
        "cpu",
        (8, 1),
        32,
    )
    assert (w.is_contiguous(), w.layout, w.is_leaf, w.nbytes) == (True, torch.strided, True, 128)
    for reach in (lambda: w.data_ptr(), lambda: w.untyped_storage(), lambda: w.numpy()):
        with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
            reach()
    with no_dispatch(), pytest.raises(NotImplementedError, match="has no memory"):
        w + 1
    with pytest.raises(TypeError, match="with __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,))


def test_a_layer_with_wrapped_weights() -> None:
    layer = nn.Linear(8, 4)
    layer.weight = nn.Parameter(scaled(4, 8), requires_grad=False)
    assert type(layer.weight) is Scaled
    assert isinstance(layer.weight, nn.Parameter)
    x = torch.randn(3, 8, requires_grad=True)
    plain = layer.weight.plain()
    y = layer(x)
    assert type(y) is torch.Tensor
    assert torch.equal(y, nn.functional.linear(x, plain, layer.bias))
    y.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, plain.sum(0).expand(3, 8))
    assert layer(torch.randn(2, 5, 8)).shape == (2, 5, 4)

    other = copy.deepcopy(layer)
    assert type(other.weight) is Scaled
    assert other.weight.values.data_ptr() != layer.weight.values.data_ptr()
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)["weight"]
    assert type(loaded) is Scaled
    assert torch.equal(loaded.values, layer.weight.values)
    kept = layer.weight
    layer.to(torch.float64)
    assert layer.weight is kept
    assert (type(kept), kept.dtype, kept.scale.dtype) == (Scaled, torch.float64, torch.float64)


def test_gradients_of_wrappers() -> None:
    w = scaled(2, 3, requires_grad=True)
    y = (w * 3).sum() + w.t().sum()
    assert y.grad_fn is not None
    y.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[4.0] * 3] * 2
    with torch.no_grad():
        assert w.mul_(2) is w
    assert w.scale.item() == pytest.approx(0.02)


def test_a_class_with_memory_of_its_own() -> None:
    seen: list[str] = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            with no_dispatch():
                return func(*args, **(kwargs or {}))

    x = torch.ones(2).as_subclass(Logged)
    y = x + 1
    assert seen == ["aten.add.Tensor"]
    assert y.tolist() == [2.0, 2.0]
    assert isinstance(y, Logged)


def test_views_of_wrappers_remember_their_base() -> None:
    w = scaled(2, 3, requires_grad=True)
    view = w.t()
    assert view._base is w
    assert type(view) is Scaled
    assert view.grad_fn is not None


def test_a_subclass_is_asked_before_its_base() -> None:
    asked: list[str] = []

    class First(Scaled):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(",".join(kind.__name__ for kind in types))
            return NotImplemented

    with torch.no_grad():
        result = torch.add(scaled(2), First(torch.ones(2, dtype=torch.int8), torch.tensor(1.0)))
    assert asked == ["First,Scaled"]
    assert type(result) is torch.Tensor
