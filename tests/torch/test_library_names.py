"""What libraries ask of torch besides operators: modules without work here, lists of tensors, counts of operations."""

from __future__ import annotations

import abc
import collections
import copy
import functools
import importlib
import inspect
import pickle
import subprocess
import sys
import typing
import weakref
from typing import Any

import pytest

import torch
from torch import _foreach, _unavailable
from torch._unavailable_names import NAMES
from torch.utils.flop_counter import FlopCounterMode, register_flop_formula
from torch.utils.weak import WeakIdKeyDictionary


@pytest.mark.parametrize(
    "root", ["torch.distributed", "torch.ao.quantization", "torch.onnx", "torch.nested", "torch.xpu"]
)
def test_every_name_of_a_module_without_work_is_there(root: str) -> None:
    importlib.import_module(root)
    for name, listed in NAMES.items():
        if name == root or name.startswith(f"{root}."):
            module = importlib.import_module(name)
            for entry in " ".join(listed.split()).replace(", ", ",").split():
                assert hasattr(module, entry.partition("(")[0]), (name, entry)
                assert entry.partition("(")[0] in dir(module), (name, entry)


def test_modules_of_distributed_are_its_attributes() -> None:
    code = """
import torch.distributed as dist
assert dist.checkpoint.load and dist.nn.functional.all_reduce and dist.elastic
assert dist.optim.ZeroRedundancyOptimizer and dist.algorithms.Join and dist.tensor.Shard and dist.run.main
import torch.distributed.elastic.rendezvous.dynamic_rendezvous, torch.distributed.optim.functional_adam
from torch.distributed.pipelining.schedules import ScheduleGPipe
from torch.distributed.elastic.multiprocessing import start_processes
for call in (ScheduleGPipe, start_processes, torch.distributed.elastic.agent.server.api.WorkerSpec):
    try:
        call()
    except RuntimeError as error:
        assert call.__name__ in str(error) and "not supported here" in str(error), error
    else:
        raise AssertionError(call)
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=120)


def test_names_without_work_refuse_and_compare() -> None:
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel as Same

    assert FullyShardedDataParallel is Same
    assert not isinstance(torch.nn.Linear(1, 1), FullyShardedDataParallel)
    assert ShardingStrategy.FULL_SHARD != ShardingStrategy.NO_SHARD
    with pytest.raises(RuntimeError, match=r"FullyShardedDataParallel: it is not supported here"):
        FullyShardedDataParallel(torch.nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match=r"torch\.distributed\.split_group: it is not supported"):
        torch.distributed.split_group()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = torch.distributed.nothing
    with pytest.raises(NotImplementedError, match="quantization is not supported"):
        torch.ao.quantization.prepare(torch.nn.Linear(1, 1))
    assert torch.quantization.QuantStub()(3) == 3


@pytest.mark.parametrize("root", ["torch.distributed", "torch.package", "torch.onnx"])
def test_what_is_taken_of_a_class_without_work_is_refused_by_name(root: str) -> None:
    """For every class: a RuntimeError or a NotImplementedError that says why, and no bare AttributeError."""
    importlib.import_module(root)
    seen = 0
    for home, listed in NAMES.items():
        for entry in " ".join(listed.split()).replace(", ", ",").split() if home.startswith(root) else ():
            found = getattr(importlib.import_module(home), entry.partition("(")[0])
            if type(found) is not _unavailable._UnavailableClass:
                continue
            seen += 1
            with pytest.raises((RuntimeError, NotImplementedError), match=rf"\.{found.__name__}\.from_some: \S"):
                found.from_some()
            assert not hasattr(found, "from_some"), "programs ask, and go another way"
            assert getattr(found, "from_some", 3) == 3
            assert not isinstance(torch.ones(2), found)
            assert not issubclass(torch.nn.Linear, found)
    assert seen > 0


def test_programs_live_with_classes_without_work() -> None:
    """They are imported, mentioned, compared with, inherited from and registered for."""
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.parallel import ParallelStyle

    with pytest.raises(RuntimeError, match=r"torch\.distributed\.tensor\S*\.DTensor\.from_local: it is not supported"):
        DTensor.from_local(torch.ones(2))
    assert not hasattr(DTensor, "_spec")
    assert not hasattr(DTensor, "__torch_dispatch__")

    class Style(ParallelStyle, abc.ABC):
        rows = 3

    class Sharded(torch.nn.Module):
        part: DTensor | None = None

    assert Style.rows == 3
    assert Sharded().part is None
    with pytest.raises(RuntimeError, match="ParallelStyle: it is not supported here"):
        Style()

    @functools.singledispatch
    def name(value: object) -> str:
        return "other"

    name.register(DTensor, lambda value: "sharded")
    assert name(torch.ones(1)) == "other"
    assert inspect.getmro(DTensor) == (DTensor, object)
    assert copy.deepcopy(DTensor) is DTensor
    assert pickle.loads(pickle.dumps(DTensor)) is DTensor
    assert DTensor.__doc__ is None
    assert weakref.ref(DTensor)() is DTensor
    assert typing.get_args(DTensor | None) == (DTensor, type(None))


UNARY = [
    "abs",
    "acos",
    "ceil",
    "erf",
    "exp",
    "frac",
    "lgamma",
    "log1p",
    "neg",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "tanh",
]


@pytest.mark.parametrize("name", UNARY)
def test_lists_of_tensors_are_taken_one_by_one(name: str) -> None:
    tensors = [torch.tensor([0.25, 0.5]), torch.tensor([[0.75]])]
    expected = [getattr(tensor, name)() for tensor in tensors]
    torch.testing.assert_close(list(getattr(torch, f"_foreach_{name}")(tensors)), expected)
    assert getattr(torch, f"_foreach_{name}_")(tensors) is tensors
    torch.testing.assert_close(tensors, expected)


def test_lists_of_tensors_with_others() -> None:
    a, b = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])], [torch.tensor([4.0, 5.0]), torch.tensor([6.0])]
    for answer, expected in (
        (torch._foreach_add(a, b, alpha=2), [[9.0, 12.0], [15.0]]),
        (torch._foreach_add(a, 1), [[2.0, 3.0], [4.0]]),
        (torch._foreach_mul(a, [2.0, 3.0]), [[2.0, 4.0], [9.0]]),
        (torch._foreach_addcmul(a, b, b, 2), [[33.0, 52.0], [75.0]]),
        (torch._foreach_addcdiv(a, b, b, [1.0, 2.0]), [[2.0, 3.0], [5.0]]),
        (torch._foreach_lerp(a, b, 0.5), [[2.5, 3.5], [4.5]]),
        (torch._foreach_maximum(a, 2.0), [[2.0, 2.0], [3.0]]),
        (torch._foreach_pow(2.0, a), [[2.0, 4.0], [8.0]]),
        (torch._foreach_norm(b, 1), [9.0, 6.0]),
    ):
        assert [tensor.tolist() for tensor in answer] == expected
    assert torch._foreach_copy_(a, b) is None
    assert a[1].tolist() == [6.0]
    assert torch._foreach_clamp_max_(a, [4.5, 5.5])[0].tolist() == [4.0, 4.5]
    with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
        torch._foreach_add(a, b[:1])
    with pytest.raises(RuntimeError, match="at least one tensor"):
        torch._foreach_add([], 1)
    assert len(_foreach.NAMES) == 91


def test_floating_point_operations_are_counted_by_module() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    with FlopCounterMode(display=False) as counter:
        model(torch.rand(2, 3, 8, 8)).sum().backward()
    # PyTorch 2.13's counts.
    counts = {str(operator): count for operator, count in counter.get_flop_counts()["Sequential"].items()}
    assert counts == {
        "aten.convolution": 15552,
        "aten.addmm": 2880,
        "aten.mm": 5760,
        "aten.convolution_backward": 15552,
    }
    assert counter.get_total_flops() == 39744
    assert sum(counter.get_flop_counts()["Sequential.3"].values()) == 8640
    assert "Sequential.0" in counter.get_table()
    attention = torch.nn.MultiheadAttention(4, 2)
    with FlopCounterMode(display=False) as counter:
        attention(*[torch.rand(3, 1, 4)] * 3)
    assert counter.get_total_flops() == 528


def test_formulas_of_programs_count() -> None:
    @torch.library.custom_op("counted::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def formula(shape: Any, *, out_shape: Any) -> int:
        return int(shape[0] * out_shape[1])

    with FlopCounterMode(display=False, custom_mapping={torch.cos: formula}) as counter:
        torch.cos(torch.rand(3, 4))
    assert counter.get_total_flops() == 12
    register_flop_formula(torch.sin)(formula)
    with FlopCounterMode(display=False) as counter:
        torch.sin(torch.rand(3, 5))
    assert counter.get_total_flops() == 15


def test_weak_keys_go_with_their_object() -> None:
    x = torch.ones(2)
    mapping = WeakIdKeyDictionary({x: 1})
    assert mapping[x] == 1
    assert torch.ones(2) not in mapping
    del x
    assert len(mapping) == 0


def test_tensors_are_swapped() -> None:
    a, b = torch.nn.Parameter(torch.ones(2)), torch.zeros(3)
    b.mark = 4
    torch.utils.swap_tensors(a, b)
    assert type(a) is torch.Tensor
    assert (a.tolist(), a.mark, a.requires_grad) == ([0.0] * 3, 4, False)
    assert isinstance(b, torch.nn.Parameter)
    assert (b.tolist(), b.requires_grad) == ([1.0, 1.0], True)


def test_steps_of_optimizers_as_functions() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.Adam([parameter], lr=0.1, amsgrad=True)
    alone = [parameter.detach().clone()]
    states = [[torch.zeros(2)], [torch.zeros(2)], [torch.zeros(2)], [torch.tensor(0.0)]]
    for _ in range(3):
        parameter.grad = parameter.detach() * 2
        torch.optim.adam.adam(
            alone, [alone[0] * 2], *states, amsgrad=True, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0, eps=1e-8,
            maximize=False,
        )  # fmt: skip
        optimizer.step()
    assert torch.equal(alone[0], parameter.detach())
    momentum: list[Any] = [None]
    torch.optim.sgd.sgd(
        alone,
        [torch.ones(2)],
        momentum,
        weight_decay=0,
        momentum=0.9,
        lr=0.1,
        dampening=0,
        nesterov=False,
        maximize=False,
    )
    assert momentum[0].tolist() == [1.0, 1.0]


def test_a_parameter_of_a_program_is_made_with_arguments_of_its_own() -> None:
    class Named(torch.nn.Parameter):
        def __new__(cls, data: torch.Tensor, name: str = "") -> Any:
            made: Any = torch.Tensor._make_subclass(cls, data, True)
            made.label = name
            return made

    assert Named(torch.ones(2), name="weight").label == "weight"
    assert repr(Named(torch.ones(2))) == "Parameter containing:\nParameter(Named([1., 1.], requires_grad=True))"


def test_sobol_sequences_are_pytorchs() -> None:
    engine = torch.quasirandom.SobolEngine(5)
    assert engine.draw(4)[2:].tolist() == [[0.75, 0.25, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.75, 0.25]]
    assert engine.draw(1).tolist() == [[0.375, 0.375, 0.625, 0.875, 0.375]]
    assert engine.reset().fast_forward(5).draw(1).tolist() == [[0.875, 0.875, 0.125, 0.375, 0.875]]
    scrambled = torch.quasirandom.SobolEngine(3, scramble=True, seed=3).draw(2)
    torch.testing.assert_close(
        scrambled, torch.tensor([[0.0685, 0.2245, 0.6992], [0.5497, 0.7255, 0.3091]]), atol=1e-4, rtol=0
    )
    last = torch.quasirandom.SobolEngine(1111).draw(300).double().sum(0)
    assert last[1100].item() == 149.0859375  # PyTorch 2.13's
    with pytest.raises(ValueError, match="power of 2"):
        torch.quasirandom.SobolEngine(2).fast_forward(3).draw_base2(1)


def test_callbacks_wait_for_the_end_of_a_backward_pass() -> None:
    seen: list[Any] = []
    x = torch.ones(2, requires_grad=True)
    x.register_hook(
        lambda gradient: torch.autograd.Variable._execution_engine.queue_callback(lambda: seen.append(x.grad.tolist()))
    )
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]
    with pytest.raises(RuntimeError, match="during backward pass"):
        torch.autograd.Variable._execution_engine.queue_callback(seen.clear)


def test_a_callback_may_queue_another() -> None:
    x, called = torch.ones(2, requires_grad=True), []
    engine = torch.autograd.Variable._execution_engine

    def first() -> None:
        called.append("first")
        engine.queue_callback(lambda: called.append("second"))

    y = x * 2
    y.register_hook(lambda gradient: engine.queue_callback(first))
    y.sum().backward()
    assert called == ["first", "second"]


@pytest.mark.parametrize("create_graph", [False, True])
def test_callbacks_have_the_grad_mode_of_their_pass(create_graph: bool) -> None:
    x, modes = torch.ones(2, requires_grad=True), []
    y = x * 2
    engine = torch.autograd.Variable._execution_engine
    y.register_hook(lambda gradient: engine.queue_callback(lambda: modes.append(torch.is_grad_enabled())))
    torch.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert modes == [create_graph]
    assert torch.is_grad_enabled()


def test_bits_move() -> None:
    x = torch.tensor([1, 2, 12])
    assert ((x << 2).tolist(), (x >> 1).tolist(), (2 << x).tolist()) == ([4, 8, 48], [0, 1, 6], [4, 8, 8192])
    x <<= 1
    assert x.tolist() == [2, 4, 24]


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (4, 4)])
def test_weights_stay_orthogonal(orthogonal_map: str, sizes: tuple[int, int]) -> None:
    layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(*sizes), orthogonal_map=orthogonal_map)
    before = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(2, sizes[0])).square().sum().backward()
    optimizer.step()
    assert not torch.equal(layer.weight, before)
    weight = layer.weight if sizes[0] < sizes[1] else layer.weight.mT
    torch.testing.assert_close(weight.mT @ weight, torch.eye(min(sizes)), atol=1e-5, rtol=0)
    layer.weight = before
    torch.testing.assert_close(layer.weight, before, atol=1e-5, rtol=0)


def test_the_old_comparison_of_tensors() -> None:
    with pytest.warns(FutureWarning, match="deprecated since 1.12"):
        torch.testing.assert_allclose(torch.tensor([1.0, float("nan")]), [1.00001, float("nan")])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        torch.testing.assert_allclose(torch.ones(1), torch.zeros(1))


def test_sparse_types() -> None:
    """What gpytorch and catalyst make sparse tensors with."""
    indices = torch.tensor([[0, 1], [1, 0]])
    tensor = torch.sparse.FloatTensor(indices, torch.ones(2), torch.Size([2, 2]))
    assert isinstance(tensor, torch.sparse.FloatTensor)
    assert not isinstance(tensor, torch.FloatTensor)
    assert not isinstance(tensor, torch.sparse.DoubleTensor)
    assert tensor.to_dense().tolist() == [[0, 1], [1, 0]]
    assert torch.sparse.DoubleTensor(2, 3).shape == torch.sparse.DoubleTensor(torch.Size([2, 3])).shape == (2, 3)
    with pytest.raises(TypeError, match="expected values of"):
        torch.sparse.FloatTensor(indices, torch.ones(2).double())


def test_old_homes() -> None:
    from torch import _vmap_internals
    from torch._dynamo.utils import counters, warn_once
    from torch.amp.grad_scaler import OptState
    from torch.autograd.profiler_util import EventList
    from torch.backends import nnpack, quantized
    from torch.cuda.amp.autocast_mode import autocast
    from torch.cuda.amp.common import amp_definitely_not_available
    from torch.cuda.amp.grad_scaler import GradScaler
    from torch.nn.modules.conv import _ConvTransposeMixin
    from torch.optim.swa_utils import _group_tensors_by_device_and_dtype
    from torch.profiler import profiler
    from torch.utils import _pytree
    from torch.utils._pytree import _namedtuple_flatten, _namedtuple_unflatten
    from torch.utils._triton import has_triton
    from torch.utils.hooks import unserializable_hook, warn_if_has_hooks

    assert _vmap_internals._vmap(lambda x: x + 1)(torch.zeros(3)).tolist() == [1, 1, 1]
    assert counters["frames"]["ok"] == 0
    with pytest.warns(UserWarning, match="only once"):
        warn_once("only once")
    warn_once("only once")  # a second warning would be an error
    assert (OptState.READY.value, quantized.engine, nnpack.is_available(), has_triton()) == (0, "none", False, False)
    assert issubclass(autocast, torch.autocast)
    assert issubclass(GradScaler, torch.amp.GradScaler)
    assert amp_definitely_not_available() is not torch.cuda.is_available()
    assert profiler.profile is torch.profiler.profile
    assert EventList is torch.autograd.profiler.EventList
    assert torch.distributed.rpc.is_available() is False
    pair = collections.namedtuple("pair", "x y")(1, 2)
    assert _namedtuple_unflatten(*_namedtuple_flatten(pair)) == pair
    assert _pytree._register_pytree_node is not _pytree.register_pytree_node
    assert issubclass(_ConvTransposeMixin, torch.nn.modules.conv._ConvNd)
    assert len(_group_tensors_by_device_and_dtype([[torch.ones(1), torch.ones(1).double()]])) == 2
    tensor = torch.ones(1, requires_grad=True)
    tensor.register_hook(unserializable_hook(lambda gradient: gradient))
    warn_if_has_hooks(tensor)


def test_tensors_are_taken_in_groups() -> None:
    from torch._utils import _take_tensors

    sizes = [(4, torch.float32), (2, torch.float64), (4, torch.float32), (9, torch.float32), (2, torch.float64)]
    groups = _take_tensors((torch.zeros(size, dtype=dtype) for size, dtype in sizes), 32)
    assert [[tensor.numel() for tensor in group] for group in groups] == [[4, 4], [9], [2, 2]]
    assert list(_take_tensors([], 8)) == []


def test_functions_of_a_module_are_torchs() -> None:
    assert len(torch.functional.__all__) == 22
    for name in torch.functional.__all__:
        assert getattr(torch.functional, name) is getattr(torch, name)


def test_names_of_the_core() -> None:
    assert isinstance(torch.ones(1).untyped_storage(), torch.StorageBase)
    assert torch.legacy_contiguous_format is torch.contiguous_format
    assert str(pickle.loads(pickle.dumps(torch.per_tensor_affine))) == "torch.per_tensor_affine"
    assert torch._guards.active_fake_mode() is torch._guards.detect_fake_mode([torch.ones(1)]) is None
    assert torch._guards.TracingContext.try_get() is None
    assert torch.utils.data.ConcatDataset.cumsum([[1, 2], [3]]) == [2, 3]
