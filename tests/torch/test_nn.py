"""torch.nn beyond the golden answers: hooks, state dicts, containers, moving."""

from __future__ import annotations

import copy
import gc
import warnings
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)

    def forward(self, x: torch.Tensor) -> Any:
        return self.rest(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "rest.1.weight", "rest.1.bias"]


def test_walking() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_parameters("p", recurse=False)] == ["p.scale"]
    assert [name for name, _ in net.named_buffers()] == ["count", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [name for name, _ in net.named_children()] == ["first", "rest"]
    assert net.get_submodule("rest.1") is net.rest[1]
    assert net.get_parameter("rest.1.bias") is net.rest[1].bias
    assert net.get_buffer("count") is net.count
    assert "first" in dir(net)
    shared = nn.ModuleList([net.first, net.first])
    assert len(list(shared.parameters())) == 2
    assert len(list(shared.named_parameters(remove_duplicate=False))) == 4
    seen: list[str] = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_attributes_move_between_kinds() -> None:
    net = Net()
    net.first = None
    assert [name for name, _ in net.named_children()] == ["rest"]
    net.extra = 5
    net.extra = nn.Parameter(torch.ones(1))
    assert "extra" in net._parameters
    assert "extra" not in net.__dict__
    net.extra = nn.ReLU()
    assert "extra" in net._modules
    assert "extra" not in net._parameters
    del net.extra
    assert not hasattr(net, "extra")
    net.count = torch.ones((), dtype=torch.int64)
    assert net.state_dict()["count"].item() == 1
    net.table = nn.Buffer(torch.ones(2), persistent=False)
    assert "table" in dict(net.named_buffers())
    assert "table" not in net.state_dict()

    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early()


def test_state_dict() -> None:
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == ["scale", "count", *NAMES[1:]]
    assert state["scale"].data_ptr() == net.scale.data_ptr()
    assert not state["scale"].requires_grad
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert next(iter(net.state_dict(prefix="p."))) == "p.scale"
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True))
    del state["scale"]
    state["more"] = torch.ones(1)
    answer = other.load_state_dict(state, strict=False)
    assert (answer.missing_keys, answer.unexpected_keys) == (["scale"], ["more"])
    with pytest.raises(
        RuntimeError, match=r'Missing key\(s\) in state_dict: "scale"[^"]*Unexpected key\(s\)[^"]*"more"'
    ):
        other.load_state_dict(state)


def test_load_by_assignment() -> None:
    net, other = Net(), Net()
    before = other.scale
    other.load_state_dict(net.state_dict(), assign=True)
    assert other.scale is not before
    assert other.scale.data_ptr() == net.scale.data_ptr()
    assert isinstance(other.scale, nn.Parameter)
    assert other.scale.requires_grad


def test_extra_state_and_state_dict_hooks() -> None:
    class Counting(nn.Linear):
        calls = 0

        def get_extra_state(self) -> Any:
            return {"calls": self.calls}

        def set_extra_state(self, state: Any) -> None:
            self.calls = state["calls"]

    one, other = Counting(1, 1), Counting(1, 1)
    one.calls = 7
    one.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(note=torch.ones(1)))
    state = one.state_dict()
    assert list(state) == ["weight", "bias", "_extra_state", "note"]
    del state["note"]
    other.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    other.load_state_dict(state)
    assert other.calls == 7


def test_forward_hooks() -> None:
    layer = nn.Linear(2, 2)
    seen: list[str] = []

    def before(module: nn.Module, args: Any) -> Any:
        seen.append("before")
        return args[0] * 0

    def after(module: nn.Module, args: Any, output: torch.Tensor) -> Any:
        seen.append("after")
        return output + 1

    with layer.register_forward_pre_hook(before), layer.register_forward_hook(after):
        assert torch.equal(layer(torch.ones(1, 2)), (layer.bias + 1).unsqueeze(0))
    assert seen == ["before", "after"]
    layer(torch.ones(1, 2))
    assert seen == ["before", "after"]

    class Keyword(nn.Module):
        def forward(self, x: torch.Tensor, *, factor: int = 1) -> torch.Tensor:
            return x * factor

    module = Keyword()
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"factor": 3}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["factor"], with_kwargs=True)
    assert module(torch.ones(1)).item() == 6
    order: list[int] = []
    module.register_forward_hook(lambda *_: order.append(1))
    module.register_forward_hook(lambda *_: order.append(0), prepend=True)
    module(torch.ones(1))
    assert order == [0, 1]


def test_a_hook_that_is_always_called() -> None:
    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("broken")

    seen: list[Any] = []
    module = Broken()
    module.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        module(torch.ones(1))
    assert seen == [None]


def test_full_backward_hooks() -> None:
    layer = nn.Linear(2, 3)
    seen: list[Any] = []

    def hook(module: nn.Module, grad_input: Any, grad_output: Any) -> Any:
        seen.append((grad_input[0].shape, grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    handle = layer.register_full_backward_hook(hook)
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [(torch.Size([1, 2]), [[1.0, 1.0, 1.0]])]
    torch.testing.assert_close(x.grad, 10 * layer.weight.detach().sum(0, keepdim=True))
    handle.remove()
    layer(x).sum().backward()
    assert len(seen) == 1


def test_modes_and_freezing() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 2))
    assert all(module.training for module in net.modules())
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    x = torch.ones(3, 2)
    assert torch.equal(net[0](x), x)
    net.requires_grad_(False)
    assert not net(x).requires_grad
    net.requires_grad_()
    net(x).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net[1].weight.grad.abs().sum().item() == 0
    net.zero_grad()
    assert net[1].weight.grad is None
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)  # type: ignore[arg-type]


def test_conversions_keep_the_parameters() -> None:
    net = Net()
    weight = net.first.weight
    net(torch.ones(1, 3)).sum().backward()
    assert net.double() is net
    assert net.first.weight is weight
    assert (weight.dtype, weight.grad.dtype, net.count.dtype) == (torch.float64, torch.float64, torch.int64)
    net.to(torch.float32)
    assert net.scale.dtype is torch.float32
    net.to("cpu", torch.float32).to(device="cpu", dtype=torch.float64).to(torch.ones(1)).float()
    assert net.scale.dtype is torch.float32
    assert net.cpu() is net
    assert net.to("meta").scale.is_meta
    with pytest.raises(TypeError, match="does not support"):
        net.to(wrong=1)


def test_containers() -> None:
    a, b, c = nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)
    net = nn.Sequential(a, b)
    net.append(c)
    assert list(net) == [a, b, c]
    assert net[-1] is c
    assert list(net[1:]) == [b, c]
    net[1] = nn.Tanh()
    del net[1]
    assert list(net) == [a, c]
    assert list(net._modules) == ["0", "1"]
    net.insert(1, b)
    assert list(net + nn.Sequential(b)) == [a, b, c, b]
    assert net.pop(1) is b
    assert list(nn.Sequential({"x": a, "y": b})._modules) == ["x", "y"]
    modules = nn.ModuleList([a])
    modules += [b]
    modules.extend([c]).insert(0, b)
    assert list(modules) == [b, a, b, c]
    assert list(modules[1:3]) == [a, b]
    del modules[0]
    assert list(modules._modules) == ["0", "1", "2"]
    named = nn.ModuleDict({"a": a})
    named["b"] = b
    named.update([("c", c)])
    assert list(named) == ["a", "b", "c"]
    assert named.pop("a") is a
    assert "a" not in named
    numbers = nn.ParameterList([torch.ones(1)])
    numbers.append(torch.zeros(2))
    assert [p.numel() for p in numbers.parameters()] == [1, 2]
    assert isinstance(numbers[-1], nn.Parameter)
    table = nn.ParameterDict({"a": torch.ones(1)})
    table["b"] = torch.zeros(2)
    assert list(table.state_dict()) == ["a", "b"]
    assert table.get("x", 5) == 5
    del table["a"]
    assert list(table.keys()) == ["b"]


def test_layers_of_their_own_kind() -> None:
    table = nn.Embedding(4, 2, padding_idx=-4)
    assert table.padding_idx == 0
    assert table.weight[0].tolist() == [0, 0]
    table(torch.tensor([0, 1, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]
    weight = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    indices = torch.tensor([[0, 3], [3, 2]])
    for options in ({"padding_idx": 3}, {"padding_idx": 3, "scale_grad_by_freq": True}):
        rows = nn.functional.embedding(indices, weight, **options)
        slopes = torch.autograd.grad((rows**3).sum(), weight, create_graph=True)[0]
        assert torch.equal(slopes, 3 * weight**2 * torch.tensor([[1.0], [0.0], [1.0], [0.0]], dtype=torch.float64))
        curves = torch.autograd.grad(slopes.sum(), weight)[0]
        assert torch.equal(curves, 6 * weight * torch.tensor([[1.0], [0.0], [1.0], [0.0]], dtype=torch.float64))
    fixed = nn.Embedding.from_pretrained(torch.arange(6.0).reshape(3, 2))
    assert fixed(torch.tensor(2)).tolist() == [4, 5]
    assert not fixed.weight.requires_grad
    x = torch.ones(2, 3)
    assert nn.functional.relu(-x, inplace=True).sum().item() == 0
    y = torch.full((3,), -2.0)
    assert nn.LeakyReLU(0.5, inplace=True)(y) is y
    assert y.tolist() == [-1.0] * 3
    loss = nn.CrossEntropyLoss(weight=torch.ones(3))
    assert list(loss.state_dict()) == ["weight"]


def test_init() -> None:
    eye = nn.init.eye_(torch.empty(2, 3))
    assert eye.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert nn.init.constant_(torch.empty(2), 3).tolist() == [3, 3]
    assert nn.init.ones_(nn.Parameter(torch.zeros(1))).requires_grad
    assert nn.init.calculate_gain("leaky_relu", 1) == 1.0
    with pytest.warns(UserWarning, match="zero-element"):
        nn.init.kaiming_uniform_(torch.empty(0, 3))
    bounded = nn.init.trunc_normal_(torch.empty(1000), a=-0.5, b=0.5)
    assert 0.4 < bounded.abs().max().item() <= 0.5


def test_warnings() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        nn.Softmax()(torch.ones(2, 2))
    with pytest.warns(UserWarning, match="different to the input size"):
        nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.Softmax(1)(torch.ones(2, 2))


def test_parameter() -> None:
    parameter = nn.Parameter(torch.ones(2))
    assert isinstance(parameter, torch.Tensor)
    assert parameter.requires_grad
    assert parameter.is_leaf
    assert type(parameter * 2) is torch.Tensor
    assert type(parameter.detach()) is torch.Tensor
    with pytest.raises(TypeError, match="must be a Tensor"):
        nn.Parameter([1.0])  # type: ignore[arg-type]


def test_hooks_of_every_module_and_before_backward() -> None:
    calls: list[str] = []
    handles = [
        nn.modules.module.register_module_forward_pre_hook(lambda module, args: calls.append("pre")),
        nn.modules.module.register_module_forward_hook(lambda module, args, output: output * 2),
        nn.modules.module.register_module_full_backward_hook(lambda module, before, after: calls.append("backward")),
    ]
    x = torch.ones(2, requires_grad=True)
    layer = nn.Identity()
    layer.register_full_backward_pre_hook(lambda module, gradients: (gradients[0] * 3,))
    layer(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 6.0]
    assert calls == ["pre", "backward"]
    for handle in handles:
        handle.remove()
    assert nn.ReLU()(torch.ones(1)).item() == 1.0
    assert calls == ["pre", "backward"]


def test_registration_hooks() -> None:
    seen: list[str] = []
    kinds = ("parameter", "buffer", "module")
    register = [getattr(nn.modules.module, f"register_module_{kind}_registration_hook") for kind in kinds]
    handles = [each(lambda module, name, value: seen.append(name)) for each in register]
    nn.Sequential(nn.BatchNorm1d(1))
    for handle in handles:
        handle.remove()
    assert seen == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked", "0"]


def test_a_parametrized_layer() -> None:
    class Symmetric(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.triu() + x.triu(1).t()

        def right_inverse(self, x: torch.Tensor) -> torch.Tensor:
            return x.triu()

    parametrize = nn.utils.parametrize
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.t())
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    layer.weight = torch.full((3, 3), 2.0)
    assert layer.parametrizations.weight.original.tolist() == [[2, 2, 2], [0, 2, 2], [0, 0, 2]]
    with parametrize.cached():
        assert layer.weight is layer.weight
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert layer.weight.tolist() == [[2.0] * 3] * 3
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))


def test_lazy_modules_load_what_has_shapes() -> None:
    state = nn.Linear(3, 2).state_dict()
    layer = nn.LazyLinear(2)
    assert repr(layer.weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        _ = layer.weight.shape
    layer.load_state_dict(state)
    assert torch.equal(layer.weight, state["weight"])
    assert layer(torch.zeros(1, 3)).shape == (1, 2)
    assert type(layer) is nn.Linear


def test_set_submodule_and_to_empty() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    net.set_submodule("1.0", nn.Tanh())
    assert type(net[1][0]) is nn.Tanh
    assert net.to_empty(device="cpu")[0].weight.shape == (2, 2)


def test_moments_that_are_not_tracked_stay() -> None:
    layer = nn.BatchNorm1d(2)
    layer.track_running_stats = False
    before = copy.deepcopy(layer.state_dict())
    layer(torch.rand(8, 2))
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())


def test_a_count_that_a_file_lacks() -> None:
    layer = nn.BatchNorm2d(3)
    layer.num_batches_tracked = torch.tensor(10)
    layer.load_state_dict({}, strict=False)
    assert layer.state_dict()["num_batches_tracked"] == 10
    with torch.device("meta"):
        empty = nn.BatchNorm2d(3)
    empty.load_state_dict({}, strict=False, assign=True)
    assert empty.state_dict()["num_batches_tracked"] == torch.tensor(0)


def test_changes_in_place_are_seen_by_backward() -> None:
    layer = nn.Linear(2, 2)
    product = layer.weight * layer.weight
    layer._apply(lambda tensor: tensor.add_(1))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_parameters_are_replaced_where_a_program_says_so() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        layer.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert (weight.dtype, layer.weight.dtype) == (torch.float32, torch.float64)
    assert layer.weight is not weight
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        weight = layer.weight
        layer.float()
        assert layer.weight is weight
        assert weight.dtype == torch.float32
        layer.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    assert layer.weight is weight
    assert weight.tolist() == [[1.0, 0.0], [0.0, 1.0]]


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class Answers(nn.Module):
    """One linear layer, whose output comes in some container."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.container = container

    def forward(self, x: torch.Tensor) -> Any:
        return self.container(self.layer(x))


def test_backward_hooks_keep_named_tuples() -> None:
    module = Answers(lambda y: Pair(y, y * 2))
    seen: list[Any] = []
    module.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output))
    answer = module(torch.ones(1, 2))
    assert isinstance(answer, Pair)
    (answer.first + answer.second).sum().backward()
    assert len(seen) == 1


def test_old_backward_hooks_look_into_dictionaries() -> None:
    module = Answers(lambda y: {"logits": y.sum()})
    seen: list[Any] = []
    module.register_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output[0].item()))
    module(torch.ones(1, 2))["logits"].backward()
    assert seen == [1.0]


def test_hooks_of_state_dicts_that_must_return_nothing() -> None:
    module = nn.Linear(1, 1)

    def hook(*args: Any) -> Any:
        return {}

    module.register_state_dict_post_hook(hook)
    with pytest.raises(RuntimeError, match="must return None"):
        module.state_dict()
    with pytest.raises(RuntimeError, match="previously registered via register_state_dict_post_hook"):
        module._register_state_dict_hook(hook)


def test_parameters_of_a_plain_dictionary_are_in_the_order_of_names() -> None:
    values = {"b": nn.Parameter(torch.ones(1)), "a": nn.Parameter(torch.ones(1))}
    assert list(nn.ParameterDict(values)) == ["a", "b"]
    assert list(nn.ParameterDict(OrderedDict(values))) == ["b", "a"]


def test_bags_of_padding_alone_have_a_gradient() -> None:
    weight = torch.ones(4, 2, requires_grad=True)
    indices = torch.tensor([[1, 1], [1, 1]])
    nn.functional.embedding_bag(indices, weight, mode="max", padding_idx=1).sum().backward()
    assert torch.equal(weight.grad, torch.zeros(4, 2))


def test_cosines_of_integers_and_numbers() -> None:
    x = torch.tensor([[3.0, 4.0]])
    assert nn.functional.cosine_similarity(x.to(torch.int8), x).item() == pytest.approx(1.0)
    with pytest.raises(RuntimeError, match="floating point"):
        nn.functional.cosine_similarity(x.long(), x.long())


def test_loading_leaves_no_cycles() -> None:
    layer, entries = nn.Sequential(nn.Linear(2, 2)), {"0.weight": torch.ones(2, 2), "0.bias": torch.ones(2)}
    gc.collect()
    gc.disable()
    try:
        weight = weakref.ref(entries["0.weight"])
        layer.load_state_dict(entries)
        del entries
        assert weight() is None
    finally:
        gc.enable()


def test_values_for_tensors_without_memory_are_warned_of() -> None:
    with torch.device("meta"):
        layer = nn.Linear(1, 1, bias=False)
    with pytest.warns(UserWarning, match="which is a no-op"):
        layer.load_state_dict({"weight": torch.ones(1, 1)})


@pytest.mark.parametrize(("weight", "bias", "name"), [(1, 4, "weight"), (4, 2, "bias"), (8, 4, "weight")])
def test_group_norm_wants_numbers_for_each_channel(weight: int, bias: int, name: str) -> None:
    x = torch.ones(2, 4, 3)
    with pytest.raises(RuntimeError, match=f"Expected {name} to be a vector of size equal to the number of channels"):
        torch.native_group_norm(x, torch.ones(weight), torch.ones(bias), 2, 4, 3, 2, 1e-5)
    with pytest.raises(RuntimeError, match=f"Expected {name} to be a vector of size equal to the number of channels"):
        torch.nn.functional.group_norm(x, 2, torch.ones(weight), torch.ones(bias))
