"""torch.fx: traces, code, interpreters and rewriting. The texts are those of PyTorch 2.13."""

from __future__ import annotations

import copy
import io
import math
import operator
from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn import functional

if TYPE_CHECKING:
    from pathlib import Path


def tripled(x: Any) -> Any:
    return x * 3


fx.wrap("tripled")
fx.wrap("len")


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.weight = nn.Parameter(torch.ones(4))
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.register_buffer("bias", torch.full((4,), 0.5))

    def forward(self, x: Any, y: Any = None, *, k: float = 2.0) -> Any:
        a = self.linear(x) + self.weight
        b = functional.relu(a, inplace=True) * k
        c = torch.cat([b, b - self.bias], dim=-1).view(x.shape[0], -1)
        d = c[:, :4].sum(dim=1, keepdim=True)
        e = torch.max(c, 1)[0]
        return (
            self.layers(b) + d,
            -e,
            a.transpose(0, 1),
            1 / a,
            a**2,
            a @ a.T,
            a == 1,
            a.to(torch.float64).add(1, alpha=2),
        )


CODE = """


def forward(self, x, y = None, k = 2.0):
    linear = self.linear(x)
    weight = self.weight
    add = linear + weight;  linear = weight = None
    relu = torch.nn.functional.relu(add, inplace = True)
    mul = relu * k;  relu = k = None
    bias = self.bias
    sub = mul - bias;  bias = None
    cat = torch.cat([mul, sub], dim = -1);  sub = None
    getattr_1 = x.shape;  x = None
    getitem = getattr_1[0];  getattr_1 = None
    view = cat.view(getitem, -1);  cat = getitem = None
    getitem_1 = view[(slice(None, None, None), slice(None, 4, None))]
    sum_1 = getitem_1.sum(dim = 1, keepdim = True);  getitem_1 = None
    max_1 = torch.max(view, 1);  view = None
    getitem_2 = max_1[0];  max_1 = None
    layers_0 = getattr(self.layers, "0")(mul);  mul = None
    layers_1 = getattr(self.layers, "1")(layers_0);  layers_0 = None
    add_1 = layers_1 + sum_1;  layers_1 = sum_1 = None
    neg = -getitem_2;  getitem_2 = None
    transpose = add.transpose(0, 1)
    truediv = 1 / add
    pow_1 = add ** 2
    getattr_2 = add.T
    matmul = add @ getattr_2;  getattr_2 = None
    eq = add == 1
    to = add.to(torch.float64);  add = None
    add_2 = to.add(1, alpha = 2);  to = None
    return (add_1, neg, transpose, truediv, pow_1, matmul, eq, add_2)
    """


def test_a_module_becomes_code_and_gives_the_same() -> None:
    model = Model()
    traced = fx.symbolic_trace(model)
    assert traced.code == CODE
    x = torch.randn(2, 3)
    for one, two in zip(traced(x), model(x), strict=True):
        assert torch.equal(one, two)
    assert [name for name, _ in traced.named_parameters()] == [name for name, _ in model.named_parameters()]
    assert list(traced.state_dict()) == list(model.state_dict())
    ops = [node.op for node in traced.graph.nodes]
    assert ops[:5] == ["placeholder", "placeholder", "placeholder", "call_module", "get_attr"]
    relu = next(node for node in traced.graph.nodes if node.target is functional.relu)
    assert (relu.name, [user.name for user in relu.users], relu.kwargs) == ("relu", ["mul"], {"inplace": True})
    assert relu.format_node() == (
        "%relu : [num_users=1] = call_function[target=torch.nn.functional.relu]"
        "(args = (%add,), kwargs = {inplace: True})"
    )
    assert str(traced.graph).startswith("graph():\n    %x : [num_users=2] = placeholder[target=x]\n")
    assert list(fx.symbolic_trace(model).graph.nodes)[-3].meta == {}
    first = next(node for node in traced.graph.nodes if node.name == "layers_0")
    assert list(first.meta["nn_module_stack"]) == ["layers", "layers.0"]


def test_gradients_through_a_traced_module() -> None:
    model = Model()
    traced = fx.symbolic_trace(model)
    x = torch.randn(2, 3)
    one = torch.autograd.grad(traced(x)[0].sum(), list(traced.parameters()), allow_unused=True)
    two = torch.autograd.grad(model(x)[0].sum(), list(model.parameters()), allow_unused=True)
    for a, b in zip(one, two, strict=True):
        assert a is b is None or torch.equal(a, b)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda x: x if x.sum() > 0 else -x, fx.proxy.TraceError, "cannot be used as inputs to control flow"),
        (lambda x: [item for item in x], fx.proxy.TraceError, "Proxy object cannot be iterated"),  # noqa: C416
        (lambda x: x.__len__(), RuntimeError, "'len' is not supported in symbolic tracing by default"),
    ],
)
def test_what_cannot_be_traced(function: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        fx.symbolic_trace(function)


def test_functions() -> None:
    def function(x: Any, *rest: Any, scale: float = 2.0, **options: Any) -> Any:
        one, two = x.split(1)
        return one * scale + two, rest

    traced = fx.symbolic_trace(function)
    assert [str(node.target) for node in traced.graph.nodes][:4] == ["x", "scale", "*rest", "**options"]
    # As in PyTorch, keyword-only parameters come before *args in the code.
    result, rest = traced(torch.tensor([1.0, 2.0]), 3.0, "more")
    assert (result.item(), rest) == (5.0, ("more",))

    wrapped = fx.symbolic_trace(lambda x: tripled(x) + len(x) + math.sqrt(x))
    assert [node.target for node in wrapped.graph.nodes if node.op == "call_function"][:2] == [tripled, len]

    concrete = fx.symbolic_trace(lambda x, flag: x + 1 if flag else x - 1, concrete_args={"flag": True})
    assert concrete(torch.zeros(1), True).item() == 1.0
    with pytest.raises(AssertionError, match="flag has been specialized to have value True"):
        concrete(torch.zeros(1), False)


def test_attributes_that_are_tensors() -> None:
    constant = torch.tensor([1.0, 2.0])
    traced = fx.symbolic_trace(lambda x: x + constant)
    assert "_tensor_constant0 = self._tensor_constant0" in traced.code
    assert traced(torch.zeros(2)).tolist() == [1.0, 2.0]


def test_graphs_by_hand() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    scale = graph.placeholder("scale", default_value=2.0)
    doubled = graph.call_function(operator.mul, (x, scale))
    relu = graph.call_method("relu", (doubled,))
    graph.output(relu)
    module = fx.GraphModule({}, graph)
    assert module(torch.tensor([-1.0, 3.0])).tolist() == [0.0, 6.0]

    with module.graph.inserting_before(relu):
        negated = module.graph.call_function(torch.neg, (doubled,))
    relu.replace_input_with(doubled, negated)
    module.graph.lint()
    module.recompile()
    assert module(torch.tensor([-1.0, 3.0])).tolist() == [2.0, 0.0]

    with module.graph.inserting_after(negated):
        extra = module.graph.call_function(torch.abs, (negated,))
    assert len(module.graph.nodes) == 7
    assert module.graph.eliminate_dead_code()
    assert extra not in list(module.graph.nodes)
    with pytest.raises(RuntimeError, match="Tried to erase Node neg but it still had 1 users"):
        module.graph.erase_node(negated)
    negated.replace_all_uses_with(doubled)
    module.graph.erase_node(negated)
    module.recompile()
    assert module(torch.tensor([-1.0, 3.0])).tolist() == [0.0, 6.0]
    assert [node.name for node in module.graph.find_nodes(op="call_method", target="relu")] == ["relu"]
    with pytest.raises(TypeError, match="does not support mutation"):
        fx.immutable_collections.immutable_list([1]).append(2)
    assert relu > doubled
    doubled.append(x)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        module.graph.lint()


def test_interpreters_and_transformers() -> None:
    model = Model()
    traced = fx.symbolic_trace(model)
    x = torch.randn(2, 3)
    names: list[str] = []

    class Watching(fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            names.append(n.name)
            return super().run_node(n)

    assert torch.equal(Watching(traced).run(x)[0], model(x)[0])
    assert names == [node.name for node in traced.graph.nodes]

    class Sigmoid(fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is functional.relu:
                return super().call_function(torch.sigmoid, args[:1], {})
            return super().call_function(target, args, kwargs)

    changed = Sigmoid(traced).transform()
    assert "torch.sigmoid(add)" in changed.code
    assert "torch.nn.functional.relu" in traced.code
    with pytest.raises(RuntimeError, match=r"(?s)mat1 and mat2.*While executing %linear"):
        fx.Interpreter(traced).run(torch.ones(2, 5))


def test_shapes() -> None:
    traced = fx.symbolic_trace(Model())
    ShapeProp(traced).propagate(torch.randn(2, 3))
    shapes = {node.name: node.meta["tensor_meta"].shape for node in traced.graph.nodes if node.name in ("cat", "sum_1")}
    assert shapes == {"cat": (2, 8), "sum_1": (2, 1)}


def test_patterns() -> None:
    def function(x: Any) -> Any:
        return torch.sigmoid(x).relu() + torch.sigmoid(x + 1)

    traced = fx.symbolic_trace(function)
    places = fx.replace_pattern(traced, lambda x: torch.sigmoid(x), lambda x: torch.tanh(x) * 2)
    assert [place.anchor.name for place in places] == ["sigmoid", "sigmoid_1"]
    x = torch.randn(3)
    assert torch.equal(traced(x), (torch.tanh(x) * 2).relu() + torch.tanh(x + 1) * 2)

    chained = fx.symbolic_trace(lambda x, w: (x @ w).relu())
    places = fx.replace_pattern(chained, lambda a, b: (a @ b).relu(), lambda a, b: functional.linear(a, b.T).relu())
    assert len(places) == 1
    x, w = torch.randn(2, 3), torch.randn(3, 2)
    assert torch.allclose(chained(x, w), (x @ w).relu())
    used_outside = fx.symbolic_trace(lambda x: (x + 1).relu() * (x + 1).neg())
    assert len(fx.replace_pattern(used_outside, lambda x: (x + 1).relu(), lambda x: x)) == 1


def test_copies_and_pickles(tmp_path: Path) -> None:
    traced = fx.symbolic_trace(Model())
    x = torch.randn(2, 3)
    again = copy.deepcopy(traced)
    assert again.code == traced.code
    assert torch.equal(again(x)[0], traced(x)[0])
    assert again.linear.weight is not traced.linear.weight
    file = io.BytesIO()
    torch.save(traced, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert loaded.code == traced.code
    assert torch.equal(loaded(x)[0], traced(x)[0])
    assert "class Model(torch.nn.Module):" in traced.print_readable(print_output=False)


def test_unused_submodules_are_deleted() -> None:
    traced = fx.symbolic_trace(Model())
    assert traced.add_submodule("deep.extra", nn.ReLU())
    assert isinstance(traced.get_submodule("deep.extra"), nn.ReLU)
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "deep")
    assert hasattr(traced, "layers")


def test_tracers_decide_what_is_a_leaf() -> None:
    class Deep(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return False

    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    graph = Deep().trace(model)
    assert [node.op for node in graph.nodes] == [
        "placeholder",
        "get_attr",
        "get_attr",
        "call_function",
        "call_function",
        "output",
    ]
    x = torch.randn(1, 2)
    assert torch.equal(fx.GraphModule(model, graph)(x), model(x))


def test_the_code_of_wrapped_functions_may_be_traced_again() -> None:
    traced = torch.fx.symbolic_trace(lambda x: tripled(x).sum() * 2)
    assert traced.code.startswith('\ntorch.fx._symbolic_trace.wrap("')
    again = torch.fx.symbolic_trace(traced)
    assert [node.op for node in again.graph.nodes] == [node.op for node in traced.graph.nodes]
    assert again(torch.ones(3)).item() == 18.0
    assert torch.fx.node.Target is not None
    assert torch.fx.node.Argument is not None
