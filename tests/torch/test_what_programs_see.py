"""What programs print and look at: names of classes, texts of errors, the numbers that generators go on with."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import torch
from torch.nn import functional


def test_the_names_of_classes() -> None:
    assert repr(type(torch.ones(1))) == "<class 'torch.Tensor'>"
    assert (torch.finfo.__module__, torch.iinfo.__module__) == ("torch", "torch")
    assert pickle.loads(pickle.dumps(torch.Tensor)) is torch.Tensor


def test_limits_of_a_type_are_one_object() -> None:
    limits = torch.finfo(torch.float32)
    assert limits is torch.finfo(torch.float32)
    assert limits == torch.finfo(torch.complex64) != torch.finfo(torch.float64)
    assert torch.finfo() is limits
    assert torch.iinfo(torch.int8) == torch.iinfo(torch.int8) != torch.iinfo(torch.uint8)
    assert copy.deepcopy(limits) is limits
    assert pickle.loads(pickle.dumps(torch.iinfo(torch.int16))).max == 32767
    with pytest.raises(AttributeError, match=r"attribute 'eps' of 'torch\.finfo' objects is not writable"):
        limits.eps = 3.0
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.finfo().bits == 64
    finally:
        torch.set_default_dtype(torch.float32)


def test_functions_without_a_public_name_are_looked_up_once() -> None:
    assert torch._standard_gamma is torch._standard_gamma
    assert "_standard_gamma" in vars(torch)


def test_plain_pickles_are_small() -> None:
    tensor = torch.arange(4.0)
    assert len(pickle.dumps(tensor)) < 600  # as PyTorch's, in which storages are files of the older format
    assert torch.equal(pickle.loads(pickle.dumps(tensor)), tensor)


def test_names_that_a_module_has_already() -> None:
    class WithProperty(torch.nn.Module):
        @property
        def size(self) -> int:
            return 1

    class WithAnswers(torch.nn.Module):
        def __getattr__(self, name: str) -> object:
            return name if name == "found" else super().__getattr__(name)

    for module, name in ((WithProperty(), "size"), (WithAnswers(), "found"), (torch.nn.Linear(1, 1), "weight")):
        with pytest.raises(KeyError, match=f"attribute '{name}' already exists"):
            module.add_module(name, torch.nn.ReLU())
        with pytest.raises(KeyError, match=f"attribute '{name}' already exists"):
            module.register_buffer(name, torch.ones(1))


def test_keys_that_a_module_missed() -> None:
    answer = torch.nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1), "x": torch.ones(1)}, strict=False)
    assert repr(answer) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['x'])"


def test_a_sampler_leaves_its_generator_where_pytorch_does() -> None:
    generator = torch.Generator().manual_seed(5)
    assert list(torch.utils.data.RandomSampler(range(5), generator=generator)) == [1, 3, 0, 4, 2]
    assert list(torch.utils.data.SubsetRandomSampler([3, 4, 5], generator=generator)) == [3, 4, 5]


def test_copies_of_parameters_have_no_attributes() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.note = 1  # type: ignore[attr-defined]
    assert copy.deepcopy(parameter).__dict__ == {}


def test_warm_restarts_count_in_whole_numbers() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, 2)
    assert repr(schedule.state_dict()["T_cur"]) == "0"


class Scaled(torch.autograd.Function):
    """A tensor times a number."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * ctx.factor, None


def test_nodes_of_python() -> None:
    y = Scaled.apply(torch.ones(1, requires_grad=True), 2.0)
    node: Any = y.grad_fn
    assert repr(node).startswith("<torch.autograd.function.ScaledBackward object at")
    assert [type(next_node).__name__ for next_node, _ in node.next_functions] == ["AccumulateGrad"]


def test_the_operation_whose_result_was_written_over() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of Exp, is at version 1; expected version 0"):
        y.sum().backward()


def test_files_that_are_none() -> None:
    for weights_only, text in ((True, "^Weights only load failed"), (False, "is not a file of torch.save")):
        with pytest.raises(pickle.UnpicklingError, match=text):
            torch.load(io.BytesIO(b"garbage"), weights_only=weights_only)


def test_parameters_that_a_trace_fixes() -> None:
    def function(x: torch.Tensor, flag: bool = True) -> torch.Tensor:
        return x + 1 if flag else x

    traced = torch.fx.symbolic_trace(function, concrete_args={"flag": True})
    assert [node.name for node in traced.graph.nodes] == ["x", "flag_1", "eq", "_assert", "add", "output"]
    assert traced(torch.ones(1)).item() == 2
    with pytest.raises(AssertionError, match="flag has been specialized to have value True"):
        traced(torch.ones(1), False)


LOW = torch.bfloat16


def low(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=LOW)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: torch.nn.LSTM(3, 3)(torch.ones(2, 1, 3))[0], LOW),
        (lambda: torch.nn.LSTM(3, 3)(low(2, 1, 3))[1][1], LOW),
        (lambda: torch.nn.LSTM(3, 3, 2, bias=False, bidirectional=True)(torch.ones(2, 3))[0], LOW),
        (lambda: torch.nn.LSTM(3, 3, proj_size=2)(torch.ones(2, 1, 3))[1][1], torch.float32),
        (lambda: torch.nn.GRU(3, 3)(torch.ones(2, 1, 3))[0], torch.float32),
        (lambda: functional.pad(low(1, 2, 4), (1, 1), "reflect"), torch.float32),
        (lambda: functional.pad(low(1, 2, 4, 4), (1, 1, 1, 1), mode="replicate"), torch.float32),
        (lambda: functional.pad(low(1, 2, 4), (1, 1)), LOW),
        (lambda: functional.grid_sample(low(1, 1, 3, 3), low(1, 2, 2, 2), align_corners=False), torch.float32),
        (lambda: functional.prelu(torch.ones(2), torch.ones(1)), LOW),
        (lambda: torch.matrix_power(torch.ones(2, 2), 3), LOW),
    ],
)
def test_dtypes_in_autocast(function: Any, expected: torch.dtype) -> None:
    with torch.autocast("cpu"):
        assert function().dtype is expected


class Source(torch.utils.data.IterDataPipe[int]):
    """Numbers, of which several readers get a share each."""

    shuffles, seed, share = False, 0, (1, 0)

    def __iter__(self) -> Any:
        numbers = list(range(6))[self.share[1] :: self.share[0]]
        return iter(numbers[::-1] if self.shuffles else numbers)

    def set_shuffle(self, shuffle: bool) -> None:
        self.shuffles = shuffle

    def set_seed(self, seed: int) -> None:
        self.seed = seed

    def apply_sharding(self, count: int, number: int) -> None:
        self.share = (count, number)


class Doubled(torch.utils.data.IterDataPipe[int]):
    """Twice what others give."""

    def __init__(self, *sources: Any) -> None:
        self.sources = sources

    def __iter__(self) -> Any:
        return (2 * number for source in self.sources for number in source)


def test_settings_of_pipes() -> None:
    from torch.utils.data import graph, graph_settings

    source = Source()
    pipe = Doubled(source)
    assert graph.traverse_dps(pipe) == {id(pipe): (pipe, {id(source): (source, {})})}
    assert graph_settings.apply_shuffle_settings(pipe) is pipe
    assert list(pipe) == [0, 2, 4, 6, 8, 10]
    graph_settings.apply_sharding(pipe, 2, 1)
    graph_settings.apply_shuffle_settings(pipe, shuffle=True)
    assert list(pipe) == [10, 6, 2]
    graph_settings.apply_random_seed(pipe, torch.Generator().manual_seed(1))
    assert source.seed != 0
    with pytest.warns(UserWarning, match="does not contain a `Shuffler`"), pytest.raises(AttributeError):
        graph_settings.apply_shuffle_settings(Doubled(), shuffle=True)
    source.source = Source()  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="Sharding twice on a single pipeline"):
        graph_settings.apply_sharding(pipe, 2, 1)


def test_what_profiles_tell_of_calls() -> None:
    steps: list[int] = []
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(schedule=plan, on_trace_ready=lambda run: steps.append(run.step_num)) as run:
        for _ in range(6):
            torch.ones(2).exp()
            run.step()
    assert steps == [4]
    event = next(event for event in run.events() if event.name == "aten::exp")
    assert event.time_range.elapsed_us() == pytest.approx(event.cpu_time_total)
    assert event.cpu_parent.name.startswith("ProfilerStep#")
    assert (event.device_type, event.is_async, event.cuda_time) == (torch.profiler.DeviceType.CPU, False, 0)
    assert run.key_averages()[0].device_time_total == 0


def test_lists_of_parameters_print_as_dictionaries_do() -> None:
    one = torch.nn.Parameter(torch.ones(1))
    line = "  (0): Parameter containing: [torch.float32 of size 1]"
    assert repr(torch.nn.ParameterList([one])) == f"ParameterList({line})"
    with pytest.raises(TypeError, match=r"iterable of Tensors or dicts, but got torch\.FloatTensor"):
        torch.optim.SGD(torch.ones(1), lr=0.1)


def test_what_old_programs_ask_of_a_build() -> None:
    assert not any((torch.has_mps, torch.has_cuda, torch.has_cudnn, torch.has_mkldnn))
    assert torch.has_lapack


NAMES = "ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps hpu mtia privateuseone"
OTHER_DEVICES = NAMES.split()


@pytest.mark.parametrize("kind", OTHER_DEVICES)
def test_devices_that_are_only_named(kind: str) -> None:
    device = torch.device(kind)
    assert (device.type, device.index, repr(device)) == (kind, None, f"device(type='{kind}')")
    assert torch.device(kind, 1) == torch.device(f"{kind}:1") != device
    assert pickle.loads(pickle.dumps(device)) == device
    assert len({torch.device(other) for other in [*OTHER_DEVICES, "cpu", "cuda", "meta"]}) == len(OTHER_DEVICES) + 3
    for make in (
        lambda: torch.empty(2, device=device),
        lambda: torch.ones(2).to(kind),
        lambda: torch.nn.Linear(1, 1).to(device),
        lambda: torch.Generator(device),
        lambda: torch.UntypedStorage(4, device=device),
    ):
        with pytest.raises(RuntimeError, match=f"there is no {kind.upper()} backend in this process: tensors live on"):
            make()


def test_devices_that_nobody_knows() -> None:
    known = "cpu, cuda, meta, " + ", ".join(OTHER_DEVICES)
    with pytest.raises(RuntimeError, match=f"^Expected one of {known} device type at start of device string: tpu:1$"):
        torch.device("tpu:1")


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.relu, b"torch._C\n_VariableFunctionsClass"),
        (torch.conv2d, b"torch._C\n_VariableFunctionsClass"),
        (torch.tensor, b"torch._C\n_VariableFunctionsClass"),
        (torch.nn.functional.gelu, b"torch._C._nn\ngelu"),
        (torch.fft.fft, b"torch._C._fft\nfft_fft"),
        (torch.linalg.inv, b"torch._C._linalg\nlinalg_inv"),
        (torch.special.gammaln, b"torch._C._special\nspecial_gammaln"),
    ],
)
def test_a_function_is_pickled_by_pytorchs_name(function: Any, name: bytes) -> None:
    """As a model is that keeps torch.relu for its activation: PyTorch reads the file, and wrote such files."""
    written = pickle.dumps(function, 2)
    assert name in written
    assert pickle.loads(written) is function
    assert copy.deepcopy(function) is function


def test_functions_of_torch_are_a_class_members() -> None:
    assert isinstance(torch._C._VariableFunctions, torch._C._VariableFunctionsClass)
    assert torch._C._VariableFunctionsClass.relu is torch.relu is torch._C._VariableFunctions.relu
    assert (torch.relu.__module__, torch.relu.__qualname__) == ("torch", "_VariableFunctionsClass.relu")


def test_results_with_a_history_are_pickled_without() -> None:
    x = torch.ones(3, requires_grad=True)
    for result in (x * 2, (x * 2)[1:]):
        read = pickle.loads(pickle.dumps(result))
        assert read.is_leaf
        assert read.requires_grad
        torch.testing.assert_close(read, result)


def make_results() -> dict[str, torch.Tensor]:
    x, weight = torch.ones(2, 3, 4, requires_grad=True), torch.ones(4, 4)
    return {
        "matmul": x.matmul(weight),
        "matmul of stacks": x.matmul(weight.expand(2, 4, 4)),
        "a vector": x.matmul(weight[0]),
        "linear": torch.nn.functional.linear(x, weight),
        "group_norm": torch.nn.functional.group_norm(x, 3),
        "kron": torch.kron(weight, weight),
        "pinv": torch.linalg.pinv(x),
        "quantile": torch.quantile(x, 0.5, dim=-1),
        "lstm": torch.nn.LSTM(4, 3)(x)[0],
    }


@pytest.mark.parametrize("name", make_results())
def test_a_view_of_what_nobody_has_is_none(name: str) -> None:
    """Functions that end with a view of what they have computed: the result can be detached in place, as PyTorch's."""
    result = make_results()[name]
    assert not result._is_view()
    assert result._base is None
    result.detach_()
    assert not result.requires_grad


def test_views_of_arguments_stay_views() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    for view in (y.reshape(6), y.flatten(), y.squeeze(), y.expand_as(y), y.swapaxes(0, 1)):
        assert view._base is y
    y.reshape(6)[0] = 5.0
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 1], [1, 1, 1]]


def test_an_autograd_function_may_have_any_method() -> None:
    """gpytorch's have a `_forward` of their own."""

    class Square(torch.autograd.Function):
        @staticmethod
        def _forward(x: torch.Tensor) -> torch.Tensor:
            return x * x

        @staticmethod
        def _backward(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
            return 2 * x * grad

        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return Square._forward(x)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return Square._backward(*ctx.saved_tensors, grad)

    x = torch.tensor(3.0, requires_grad=True)
    Square.apply(x).backward()
    assert x.grad is not None
    assert x.grad.item() == 6


def test_a_bool_is_a_number_where_a_float_is_asked_for() -> None:
    """nystrom-attention pads a mask with value=False."""
    x = torch.ones(2)
    assert functional.pad(x, (1, 1), value=False).tolist() == [0, 1, 1, 0]
    assert torch.dropout(x, False, False).tolist() == [1, 1]
    assert torch.quantile(torch.arange(3.0), True).item() == 2
    assert torch.trapz(x, dx=True).item() == 1
    assert torch.zeros(1).uniform_(False, False).item() == 0
    assert torch.histogram(x, 2, range=(False, True))[0].tolist() == [0, 2]


def test_generators_are_pickled_and_copied() -> None:
    generator = torch.Generator().manual_seed(3)
    torch.rand(5, generator=generator)
    for other in (pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator)):
        assert other.initial_seed() == 3
        assert torch.equal(torch.rand(3, generator=other), torch.rand(3, generator=generator.clone_state()))


def test_old_names_of_storages_and_types() -> None:
    x = torch.arange(6.0)
    assert torch.empty(0).set_(x.storage()).tolist() == x.tolist()
    assert torch.empty(0).set_(x.storage(), 1, (2,), (2,)).tolist() == [1.0, 3.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        torch.empty(0, dtype=torch.int64).set_(x.storage())
    assert x.storage().resizable()
    assert torch.arange(2).type(torch.Tensor).dtype == torch.float32
    assert issubclass(torch.cpu.amp.autocast, torch.amp.autocast)


def test_numbers_of_numpy_are_sizes() -> None:
    numpy = pytest.importorskip("numpy")
    assert torch.ones(numpy.array(3), numpy.int64(2)).shape == (3, 2)
    assert torch.ones(6).view(numpy.array(3), 2).shape == (3, 2)
    assert torch.result_type(1, 1.0) == torch.float32
    with pytest.raises(TypeError):
        torch.ones(numpy.array([3.5]))
