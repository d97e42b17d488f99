"""Names that few programs use: numbers that tracers leave open, streams of any device, methods that call Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import torch

if TYPE_CHECKING:
    from pathlib import Path

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
