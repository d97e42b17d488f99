"""torch.cuda: the same answers with and without a device; the rest needs one."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import torch

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


def test_availability_is_consistent() -> None:
    assert torch.cuda.is_available() == (torch.cuda.unavailable_reason() is None)
    assert (torch.cuda.device_count() > 0) == torch.cuda.is_available()
    assert torch.backends.cuda.is_built() == (torch.version.cuda is not None)


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    program = (
        "import torch; torch.manual_seed(1); torch.ones(2).sum();"
        "print(any('torch_cuda' in line or 'libcudart' in line for line in open('/proc/self/maps')))"
    )
    if not sys.platform.startswith("linux"):
        pytest.skip("looks at /proc")
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "False"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_without_a_device() -> None:
    reason = torch.cuda.unavailable_reason()
    assert isinstance(reason, str)
    assert len(reason) > 10
    assert not torch.cuda.is_initialized()
    assert torch.cuda.memory_allocated() == 0
    torch.cuda.manual_seed_all(1)
    torch.cuda.empty_cache()
    assert torch.cuda.memory_stats() == {}
    assert torch.cuda.get_rng_state_all() == []
    assert torch.cuda.get_arch_list() == []
    assert not torch.cuda.is_bf16_supported()
    torch.cuda.set_device(-1)
    with torch.cuda.stream(None), torch.cuda.device_of(torch.ones(1)):
        pass
    for call in (
        torch.cuda.init,
        torch.cuda.current_device,
        torch.cuda.get_device_name,
        torch.cuda.synchronize,
        torch.cuda.Stream,
        torch.cuda.current_stream,
        torch.cuda.mem_get_info,
    ):
        with pytest.raises(RuntimeError, match="CUDA"):
            call()
    with pytest.raises((RuntimeError, NotImplementedError, AssertionError), match=r"(?i)cuda"):
        torch.ones(1, device="cuda")
    with pytest.raises((RuntimeError, NotImplementedError, AssertionError), match=r"(?i)cuda"):
        torch.nn.Linear(1, 1).cuda()


@needs_cuda
def test_with_a_device() -> None:
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name()
    properties = torch.cuda.get_device_properties(0)
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability()
    before = torch.cuda.memory_allocated()
    x = torch.ones(1000, device="cuda")
    assert torch.cuda.memory_allocated() >= before + 4000
    assert torch.cuda.max_memory_allocated() <= torch.cuda.max_memory_reserved()
    torch.cuda.synchronize()
    assert x.sum().item() == 1000
    assert repr(x[:1]) == "tensor([1.], device='cuda:0')"
    with torch.cuda.device(0):
        assert x.cpu().is_cpu


@needs_cuda
def test_device_seeds() -> None:
    def draw() -> list[float]:
        values: list[float] = torch.rand(3, device="cuda").tolist()
        return values

    torch.manual_seed(5)
    first = draw()
    torch.cuda.manual_seed(5)
    assert draw() == first
    state = torch.cuda.get_rng_state()
    second = draw()
    torch.cuda.set_rng_state(state)
    assert draw() == second


def test_types_from_before_dtype() -> None:
    assert torch.cuda.FloatTensor.__module__ == "torch.cuda"
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    with pytest.raises(AttributeError, match="TwistedTensor"):
        _ = torch.cuda.TwistedTensor
    if torch.cuda.is_available():
        assert isinstance(torch.ones(1, device="cuda"), torch.cuda.FloatTensor)
        assert torch.cuda.LongTensor([1, 2]).device.type == "cuda"
    sparse = torch.ones(2, 2).to_sparse()
    assert not isinstance(sparse, torch.cuda.sparse.FloatTensor)
    if torch.cuda.is_available():
        assert isinstance(sparse.cuda(), torch.cuda.sparse.FloatTensor)


def test_names_of_what_is_not_there_refuse() -> None:
    assert not torch.cuda.tunable.is_enabled()
    torch.cuda.tunable.enable(False)
    assert torch.cuda.tunable.get_results() == ()
    torch.cuda.caching_allocator_enable()
    for call in (
        torch.cuda.tunable.enable,
        torch.cuda.tunable.read_file,
        torch.cuda.gds.GdsFile,
        torch.cuda.GreenContext,
        torch.cuda.current_blas_handle,
        torch.cuda.current_solver_handle,
        lambda: torch.cuda.caching_allocator_enable(False),
        torch.cuda.caching_allocator_disabled().__enter__,
        lambda: torch.cuda.CUDAPluggableAllocator("a.so", "take", "give"),
        lambda: torch.cuda.change_current_allocator(object()),
    ):
        with pytest.raises(NotImplementedError, match=r"cuda|CUDA"):
            call()
    with pytest.raises(AttributeError, match="twisted"):
        _ = torch.cuda.tunable.twisted


def test_what_the_driver_tells_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(ModuleNotFoundError, match="nvidia-ml-py does not seem to be installed"):
        torch.cuda.utilization()
    assert "please install nvidia-ml-py" in torch.cuda.list_gpu_processes()


@needs_cuda
def test_what_the_driver_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    class Process:
        pid, usedGpuMemory = 12, 3 * 2**20

    class Answers:
        gpu, memory, used = 40, 30, 2**30

    library = ModuleType("pynvml")
    library.NVMLError_DriverNotLoaded = OSError  # type: ignore[attr-defined]
    library.nvmlInit = lambda: None  # type: ignore[attr-defined]
    library.nvmlDeviceGetCount = lambda: 6  # type: ignore[attr-defined]
    library.nvmlDeviceGetHandleByIndex = lambda number: number  # type: ignore[attr-defined]
    library.nvmlDeviceGetUUID = lambda number: f"GPU-{number:04}"  # type: ignore[attr-defined]
    library.nvmlDeviceGetUtilizationRates = lambda _: Answers  # type: ignore[attr-defined]
    library.nvmlDeviceGetMemoryInfo = lambda _: Answers  # type: ignore[attr-defined]
    library.nvmlDeviceGetTemperature = lambda number, _: 50 + number  # type: ignore[attr-defined]
    library.nvmlDeviceGetComputeRunningProcesses = lambda _: [Process]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", library)
    assert (torch.cuda.utilization(), torch.cuda.memory_usage(), torch.cuda.device_memory_used()) == (40, 30, 2**30)
    assert "process         12 uses        3.000 MB" in torch.cuda.list_gpu_processes()
    for visible, degrees in (("", 50), ("3", 53), ("GPU-0005", 55)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert torch.cuda.temperature(0) == degrees
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-9")
    with pytest.raises(RuntimeError, match="GPU-9"):
        torch.cuda.temperature(0)
