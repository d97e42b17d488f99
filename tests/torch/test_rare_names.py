"""Names that few programs use: numbers that tracers leave open, streams of any device, methods that call Python."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import torch

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="a machine without CUDA")


def test_numbers_that_tracers_leave_open_are_plain_ones() -> None:
    assert not any(isinstance(3, kind) for kind in (torch.SymInt, torch.SymFloat, torch.SymBool))
    assert (torch.sym_int(-2.5), torch.sym_float(2), torch.sym_not(0)) == (-2, 2.0, True)
    assert (torch.sym_max(3, 2.0), torch.sym_min(3, 2)) == (3.0, 2)
    assert isinstance(torch.sym_max(3, 2.0), float)
    assert torch.sym_sum([1, 2]) == torch.sym_sum(1, 2) == 3
    assert (torch.sym_ite(True, 1, 2), torch.sym_sqrt(4)) == (1, 2.0)
    assert torch.sym_fresh_size(3) == 3
    torch.sym_constrain_range(5, min=5, max=5)
    with pytest.raises(RuntimeError, match=r"Invalid value range for 5 between \[6, 9223372036854775807\]"):
        torch.sym_constrain_range(5, min=6)
    with pytest.raises(RuntimeError, match=r"Invalid value range for -1 between \[0, "):
        torch.sym_constrain_range_for_size(-1)


@NO_CUDA
def test_streams_and_modules_of_any_device() -> None:
    stream, event = torch.Stream(), torch.Event(enable_timing=True)
    assert stream.device == event.device == torch.device("cpu")
    assert isinstance(stream, torch.Stream)
    assert isinstance(torch.cuda.Stream.__new__(torch.cuda.Stream), torch.Stream)
    assert not isinstance(torch.cuda.Stream.__new__(torch.cuda.Stream), torch.Event)
    event.record(stream)
    later = stream.record_event(torch.Event(enable_timing=True))
    stream.wait_event(event)
    stream.wait_stream(torch.Stream("cpu"))
    assert event.query()
    assert stream.query()
    assert event.elapsed_time(later) >= 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        event.elapsed_time(torch.Event())
    assert torch.get_device_module() is torch.cpu
    assert torch.get_device_module("cuda") is torch.cuda
    with pytest.raises(RuntimeError):
        torch.get_device_module("foo")
    assert (torch.cpu.device_count(), torch.cpu.current_device(), torch.get_device(torch.ones(1))) == (1, "cpu", -1)
    with torch.cpu.stream(torch.cpu.current_stream()):
        torch.cpu.synchronize()
    with pytest.raises(RuntimeError, match="accelerator"):
        torch.ones(1).pin_memory()


def test_elements_by_functions_of_python() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.apply_(lambda value: value * 2) is x
    assert x.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert x.t().map_(torch.tensor([1.0, 2.0]), lambda a, b: a + b).tolist() == [[3.0, 8.0], [5.0, 10.0]]
    assert torch.ones(2).map2_(torch.zeros(2), torch.ones(2), lambda a, b, c: a + b + c).tolist() == [2.0, 2.0]
    assert torch.ones(2).int().apply_(lambda value: value / 2).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        torch.ones(2, requires_grad=True).apply_(math.sqrt)


def test_orders_of_dimensions() -> None:
    assert torch.ones(2, 3, 4).dim_order() == (0, 1, 2)
    assert torch.ones(2, 3, 4, 5).permute(0, 3, 1, 2).dim_order() == (0, 2, 3, 1)
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        torch.ones(2, 1, 3).dim_order(ambiguity_check=True)


def test_old_methods_of_tensors() -> None:
    x = torch.ones(4)
    with pytest.warns(UserWarning, match="non-inplace resize"):
        assert x.resize(2, 2).shape == (2, 2)
    with pytest.warns(UserWarning, match="non-inplace resize"):
        assert x.resize_as(torch.ones(2, 2)).shape == (2, 2)
    with pytest.warns(UserWarning, match="volatile"):
        assert x.volatile is False
    assert x.name is None
    assert x.const_data_ptr() == x.data_ptr()
    for name in ("eig", "lstsq", "solve", "symeig", "reinforce"):
        with pytest.raises(RuntimeError, match="removed"):
            getattr(x, name)(x)
    for name in ("xpu", "mtia", "ipu"):
        with pytest.raises(AssertionError, match=f"Torch not compiled with {name.upper()} enabled"):
            getattr(x, name)()
    flags = ("nested", "mkldnn", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")
    assert not any(getattr(x, f"is_{flag}") for flag in flags)
    assert x.module_load(torch.zeros(4)).tolist() == [0.0] * 4
    assert x.module_load(other := torch.ones(4), assign=True).data_ptr() == other.data_ptr()


def test_switches_of_the_process() -> None:
    small = torch.tensor([1e-42])
    assert torch.set_flush_denormal(True)
    flushed = (small * 1).item()
    torch.set_flush_denormal(False)
    assert (flushed, (small * 1).item() > 0) == (0.0, True)
    assert torch.is_warn_always_enabled() is False
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled()
    torch.set_warn_always(False)
    torch.set_anomaly_enabled(True, False)
    assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(False)
    assert torch.get_num_interop_threads() >= 1
    with pytest.raises(RuntimeError, match="positive"):
        torch.set_num_interop_threads(0)
    torch.init_num_threads()
    assert torch.has_lapack
    assert torch.has_spectral
    assert torch.has_mkl is torch.backends.mkl.is_available()
    assert torch.thread_safe_generator() is None
    assert torch.autocast_increment_nesting() == 1
    assert torch.autocast_decrement_nesting() == 0
    torch.set_autocast_cpu_dtype(torch.float16)
    assert torch.get_autocast_cpu_dtype() is torch.float16
    torch.set_autocast_cpu_dtype(torch.bfloat16)


def test_types_by_name_alone() -> None:
    for name in (*(f"int{bits}" for bits in range(1, 8)), "bits8", "bits2x4", "quint2x4"):
        kind = getattr(torch, name)
        assert (str(kind), kind.itemsize, kind.is_floating_point) == (f"torch.{name}", 1, False)
        with pytest.raises(NotImplementedError, match=f"there are no tensors of torch.{name} here"):
            torch.zeros(2, dtype=kind)
    assert torch.bit is torch.uint1
    assert torch.chalf is torch.complex32
    assert not torch.uint3.is_signed
    with pytest.raises(NotImplementedError, match="complex32"):
        torch.ones(2).chalf()


def test_cond_fork_and_options() -> None:
    x = torch.ones(1, requires_grad=True)
    assert torch.cond(torch.tensor(False), torch.sin, torch.neg, (x,)).item() == -1.0
    with pytest.raises(RuntimeError, match="Expected pred"):
        torch.cond(torch.ones(2), torch.sin, torch.neg, (x,))
    assert torch.wait(torch.fork(lambda: 3)) == 3
    assert torch.nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": torch.int8}}) == {
        "device": "cpu",
        "dtype": torch.int8,
    }
    with pytest.raises(TypeError, match="unexpected kwargs"):
        torch.nn.factory_kwargs({"foo": 1})
    assert torch.Tag.core in list(torch.Tag)


def test_files_as_tensors(tmp_path: Path) -> None:
    path = str(tmp_path / "numbers")
    shared = torch.from_file(path, True, 3, dtype=torch.int32)
    shared.copy_(torch.tensor([1, 2, 3]))
    private = torch.from_file(path, size=2, dtype=torch.int32)
    private += 10
    assert (shared.tolist(), private.tolist()) == ([1, 2, 3], [11, 12])
    with pytest.raises(RuntimeError, match="unable to mmap"):
        torch.from_file(path, size=4, dtype=torch.int32)


def test_batches_normalised_in_parts() -> None:
    """Parts joined are the whole: moments, the result, and its gradients."""
    torch.manual_seed(0)
    whole = torch.randn(6, 3, 4, dtype=torch.float64)
    weight, bias, grad = torch.rand(3).double(), torch.rand(3).double(), torch.randn(6, 3, 4).double()
    parts, eps = whole.split([2, 4]), 1e-5
    moments = [torch.batch_norm_stats(part, eps) for part in parts]
    means, scales = (torch.stack(each) for each in zip(*moments, strict=True))
    counts = torch.tensor([8.0, 16.0], dtype=torch.float64)
    running: Any = torch.zeros(3).double(), torch.ones(3).double()
    mean, scale = torch.batch_norm_gather_stats_with_counts(whole, means, scales, *running, 0.1, eps, counts)
    inputs = [tensor.clone().requires_grad_() for tensor in (whole, weight, bias)]
    kept = torch.zeros(3).double(), torch.ones(3).double()
    expected = torch.nn.functional.batch_norm(inputs[0], *kept, inputs[1], inputs[2], True, 0.1, eps)
    expected.backward(grad)
    found = torch.cat([torch.batch_norm_elemt(part, weight, bias, mean, scale, eps) for part in parts])
    torch.testing.assert_close(found, expected.detach())
    torch.testing.assert_close(running, kept)
    sums = [
        torch.batch_norm_backward_reduce(slope, part, mean, scale, weight, True, True, True)
        for slope, part in zip(grad.split([2, 4]), parts, strict=True)
    ]
    total, product, of_weight, of_bias = (sum(each) for each in zip(*sums, strict=True))
    torch.testing.assert_close([of_weight, of_bias], [inputs[1].grad, inputs[2].grad])
    gradients = [
        torch.batch_norm_backward_elemt(slope, part, mean, scale, weight, total, product, counts)
        for slope, part in zip(grad.split([2, 4]), parts, strict=True)
    ]
    torch.testing.assert_close(torch.cat(gradients), inputs[0].grad)
    again = torch.batch_norm_gather_stats(whole[:2], means[:1], scales[:1], None, None, 0.1, eps, 8)
    torch.testing.assert_close(again, tuple(moments[0]))


def test_questions_about_two_tensors_and_the_machine() -> None:
    x = torch.arange(6.0)
    assert torch.is_same_size(x, torch.zeros(6))
    assert not x.is_same_size(x.view(2, 3))
    assert x.view(2, 3).is_set_to(x.view(2, 3))
    assert not x.is_set_to(x.clone())
    assert not x.is_set_to(x[1:])
    assert not torch.is_distributed(x)
    assert not torch.is_vulkan_available()
    assert torch.native_norm(x, 1).item() == 15.0
    assert torch.native_norm(x.view(2, 3), 1, 1, True, torch.float64).tolist() == [[3.0], [12.0]]
    assert torch.equal(torch.native_channel_shuffle(x.view(1, 6, 1), 2), torch.channel_shuffle(x.view(1, 6, 1), 2))


def test_in_place_functions_are_recorded_with_what_they_overwrite() -> None:
    """Functions made of others, whose steps keep the values that the result then replaces."""
    for name, slope in (("square_", 6.0), ("celu_", 1.0), ("logit_", 1 / (0.25 * 0.75))):
        leaf = torch.tensor([0.25 if name == "logit_" else 3.0], requires_grad=True)
        written = getattr(torch, name)(leaf * 1)
        written.backward()
        assert leaf.grad.item() == pytest.approx(slope)
    base = torch.tensor([1.0, 2.0], requires_grad=True)
    whole = base * 1
    whole[1:].square_()
    whole.sum().backward()
    assert base.grad.tolist() == [1.0, 4.0]


# ---------------------------------------------------------------------- names of PyTorch 2.13 that came late


def test_what_compilers_ask() -> None:
    guards = [
        SimpleNamespace(guard_type="TENSOR_MATCH", value=torch.ones(1), is_global=True),
        SimpleNamespace(guard_type="TENSOR_MATCH", value=torch.nn.Parameter(torch.ones(1)), is_global=False),
        SimpleNamespace(guard_type="SHAPE_ENV", value=None, is_global=False),
    ]
    compiler = torch.compiler
    assert compiler.skip_all_guards_unsafe(guards) == [False] * 3
    assert compiler.keep_tensor_guards_unsafe(guards) == [True, False, False]
    assert compiler.keep_tensor_guards_unsafe(guards, keep_parameters=True) == [True, True, False]
    assert compiler.keep_portable_guards_unsafe(guards) == [False, True, True]
    assert compiler.skip_guard_on_globals_unsafe(guards) == [False, True, True]
    assert compiler.save_cache_artifacts() is compiler.load_cache_artifacts(b"") is None
    assert (compiler.set_enable_guard_collectives(True), compiler.set_enable_guard_collectives(False)) == (False, True)
    assert compiler.nested_compile_region(math.sin) is compiler.nested_compile_region()(math.sin) is math.sin
    with pytest.raises(NotImplementedError, match="runs no compiled functions"):
        compiler.load_compiled_function(None)


def test_the_default_backend() -> None:
    assert torch.compiler.get_default_backend() == "inductor"
    torch.compiler.set_default_backend("nonsense")
    try:
        assert torch.compiler.get_default_backend() == "nonsense"
        with pytest.raises(RuntimeError, match="nonsense"):
            torch.compile(math.sin)
        assert torch.compile(math.sin, backend="eager")(0.0) == 0.0
    finally:
        torch.compiler.set_default_backend(None)
    assert torch.compile(math.sin)(0.0) == 0.0


def test_implementations_of_attention_of_other_packages() -> None:
    attention, calls = torch.nn.attention, []
    attention.register_flash_attention_impl(
        "mine", register_fn=lambda: SimpleNamespace(remove=lambda: calls.append("removed"))
    )
    assert attention.list_flash_attention_impls() == ["FA3", "FA4", "mine"]
    assert attention.current_flash_attention_impl() is None
    attention.activate_flash_attention_impl("mine")
    assert attention.current_flash_attention_impl() == "mine"
    attention.restore_flash_attention_impl()
    assert (attention.current_flash_attention_impl(), calls) == (None, ["removed"])
    with pytest.raises(ValueError, match="Unknown flash attention impl 'other'"):
        attention.activate_flash_attention_impl("other")
    with pytest.raises(NotImplementedError, match="FA3 is made for PyTorch's own kernels"):
        attention.activate_flash_attention_impl("FA3")


@NO_CUDA
def test_accelerators_that_are_not_there() -> None:
    for name in ("Graph", "empty_host_cache", "get_device_capability"):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            getattr(torch.accelerator, name)()
    torch.accelerator.reset_accumulated_memory_stats()
    with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
        torch.serialization.validate_hpu_device("hpu:0")
    with torch.serialization.mkdtemp() as folder:
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_settings_of_autograd() -> None:
    with torch.autograd.enforce_grad_layout_policy(False):
        pass
    torch.autograd.graph.set_override_stale_capture_stream(True)
    with pytest.raises(ValueError, match=r"must be in \[0, 1\], got 2"):
        torch.autograd.graph.region_activation_memory_budget(2)
    budget = torch.autograd.graph.region_activation_memory_budget(0.5)
    with pytest.raises(RuntimeError, match="can only be used inside"), budget:
        pass

    class Double(torch.autograd.NestedIOFunction):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]  # type: ignore[union-attr]


def test_settings_of_old_devices() -> None:
    assert (torch.get_autocast_ipu_dtype(), torch.get_autocast_xla_dtype()) == (torch.float16, torch.bfloat16)
    assert not torch.is_autocast_ipu_enabled()
    torch.set_autocast_xla_enabled(True)
    assert torch.is_autocast_xla_enabled()
    torch.set_autocast_xla_enabled(False)


def test_an_optimizer_steps_other_parameters_for_a_while() -> None:
    parameters = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(3))]
    optimizer = torch.optim.Adam(parameters, lr=0.1)
    others = {"a": torch.full((2,), 5.0), "b": torch.full((3,), 6.0)}
    swap = torch.optim.swap_in_optimizer_params_and_state
    with pytest.raises(RuntimeError, match="requires initialized optimizer state"), swap(optimizer, others, {}):
        pass
    for parameter in (*parameters, *others.values()):
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 1.0
    with swap(optimizer, others, state):
        assert optimizer.param_groups[0]["lr"] == 1.0
        assert optimizer.param_groups[0]["params"][0] is others["a"]
        optimizer.step()
        optimizer.param_groups[0]["lr"] = 3.0
    torch.testing.assert_close(others["a"], torch.full((2,), 4.0))
    torch.testing.assert_close(parameters[0].detach(), torch.full((2,), 0.9))
    assert (optimizer.param_groups[0]["lr"], state["param_groups"][0]["lr"]) == (0.1, 1.0)
    assert (state["state"][0]["step"].item(), optimizer.state[parameters[0]]["step"].item()) == (2, 1)
    with (
        pytest.raises(RuntimeError, match="explicit parameter state"),
        swap(optimizer, {"a": others["a"]}, state),
    ):
        pass
    with (
        pytest.raises(RuntimeError, match="different number of parameter groups"),
        swap(optimizer, others, {"state": {}, "param_groups": []}),
    ):
        pass


@pytest.mark.parametrize(
    ("pattern", "lengths", "expected"),
    [
        ("b h w c -> b c h w", {}, lambda x: x.permute(0, 3, 1, 2)),
        ("b h w c -> h (b w) c", {}, lambda x: x.permute(1, 0, 2, 3).reshape(4, -1, 3)),
        ("b (h1 h) w c -> (b h1) c h w", {"h1": 2}, lambda x: x.reshape(4, 2, 6, 3).permute(0, 3, 1, 2)),
        ("... c -> c ...", {}, lambda x: x.permute(3, 0, 1, 2)),
        ("b ... c -> b (... c)", {}, lambda x: x.reshape(2, -1)),
        ("b h w c -> b 1 h w c", {}, lambda x: x.unsqueeze(1)),
        ("(b 1) h w c -> b h w c", {}, lambda x: x),
    ],
)
def test_rearrange(pattern: str, lengths: dict[str, int], expected: Any) -> None:
    x = torch.arange(144.0).reshape(2, 4, 6, 3)
    assert torch.equal(torch.func.rearrange(x, pattern, **lengths), expected(x))
    assert torch.func.rearrange([x, x], "n b h w c -> b (n h) w c").shape == (2, 8, 6, 3)


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [
        ("b h w -> b h w", {}), ("b h w c -> b h w", {}), ("b h w c b -> b", {}), ("b h w c", {}),
        ("b (h h1 h2) w c -> b h h1 h2 w c", {"h1": 2}), ("b (h h1) w c -> b h h1 w c", {"h1": 3}),
        ("b h w (c -> b h w c", {}), ("b h w 3c -> b h w 3c", {}), ("b h w c -> b h w c", {"d": 2}),
    ],
)  # fmt: skip
def test_bad_patterns(pattern: str, lengths: dict[str, int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        torch.func.rearrange(torch.zeros(2, 4, 6, 3), pattern, **lengths)


def test_scaled_products_say_what_they_lack() -> None:
    functional = torch.nn.functional
    assert functional.ScalingType.RowWise == functional.SwizzleType.SWIZZLE_32_4_4 == 1
    with pytest.raises(NotImplementedError, match="tensors of float8 are not multiplied here"):
        functional.scaled_grouped_mm(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1))


def test_operators_of_triton() -> None:
    @torch.library.triton_op("rare::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert torch.ops.rare.twice(torch.ones(1)).item() == 2
    with pytest.raises((ImportError, RuntimeError)):
        torch.library.wrap_triton(twice)


def test_a_trace_of_what_ran(tmp_path: Path) -> None:
    observer = torch.profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "trace.json"))
    observer.start()
    torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4))
    observer.stop()
    torch.ones(1)
    observer.unregister_callback()
    nodes = json.loads((tmp_path / "trace.json").read_text())["nodes"]
    names = {node["id"]: node["name"] for node in nodes}
    product = next(node for node in nodes if node["name"] == "aten::einsum")
    assert [node["name"] for node in nodes][1:3] == ["aten::ones", "aten::ones"]
    assert product["outputs"]["shapes"] == [[2, 4]]
    assert {names[node["ctrl_deps"]] for node in nodes[4:]} <= {"aten::einsum"}
    assert torch.profiler.DeviceType.MTIA == 19


FOUND = [
    (lambda check: check.check("a").check_not("c").check("b"), "a\nb", ""),
    (lambda check: check.check("a").check_next("b"), "a\nb", ""),
    (lambda check: check.check("a").check_same("b"), "a b", ""),
    (lambda check: check.check_count("a", 2, exactly=True).check("b"), "a a b", ""),
    (lambda check: check.check_dag("b").check_dag("a").check("c"), "a b c", ""),
    (lambda check: check.check_regex("a+b"), "xaab", ""),
    (lambda check: check.check_source_highlighted("add"), "x = add(y)\n    ~~~ <--- HERE", ""),
    (lambda check: check.check("b").check("a"), "a b", 'Expected to find "a" but did not find it'),
    (
        lambda check: check.check("a").check_not("b").check("c"),
        "a b c",
        'Expected to not find "b" but found it\na b c?',
    ),
    (lambda check: check.check("a").check_next("b"), "a\n\nb", "on the next line"),
    (lambda check: check.check("a").check_same("b"), "a\nb", "on the same line"),
    (lambda check: check.check_count("a", 2, exactly=True), "a a a", 'Expected to not find "a"'),
    (lambda check: check.check_count("a", 4), "a a a", "From CHECK-COUNT-4: a"),
    (lambda check: check.check_regex("a+b"), "xb", 'Expected to find regex "a\\+b"'),
    (lambda check: check.check_source_highlighted("add"), "x = add(y)\n", "highlighted"),
    (lambda check: check, "x", "No checks have been added"),
]


@pytest.mark.parametrize(("build", "text", "message"), FOUND)
def test_file_checks(build: Any, text: str, message: str) -> None:
    check = build(torch.testing.FileCheck())
    if not message:
        check.run(text)
    else:
        with pytest.raises(RuntimeError, match=message):
            check.run(text)


def test_file_checks_of_comments() -> None:
    torch.testing.FileCheck().run("# CHECK: hello\n# CHECK-NEXT: there\n", "hello\nthere")
    torch.testing.FileCheck().run("# CHECK-COUNT-2: hello\n", "hello hello hello")
    with pytest.raises(RuntimeError, match="From CHECK-NOT: there"):
        torch.testing.FileCheck().run("# CHECK: hello\n# CHECK-NOT: there\n", "hello\nthere")
