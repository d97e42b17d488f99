"""What the driver is asked itself: kernels that are compiled while the program runs, under the emulation by the host's
compiler; properties of a device."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

SCALE = """
template <typename T>
__global__ void scale(const T* in, T* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}
"""
LOAD_STAND_INS = """
import ctypes, os
from pathlib import Path
folder = Path(os.environ.get("TORCH_BACKEND_PATH", "/nowhere")) / "emulated"
stand_ins = [ctypes.CDLL(str(folder / name)) for name in ("libnvrtc.so.13", "libcuda.so.1") if (folder / name).exists()]
"""


@pytest.fixture(autouse=True)
def _libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exec(LOAD_STAND_INS, {})
    monkeypatch.setenv("PYTORCH_KERNEL_CACHE_PATH", str(tmp_path))
    if not (Path(os.environ.get("TORCH_BACKEND_PATH", "/nowhere")) / "emulated").exists():
        try:
            ctypes.CDLL(f"libnvrtc.so.{str(torch.version.cuda).partition('.')[0]}")
        except OSError as error:
            pytest.skip(str(error))


def test_a_template_is_compiled_and_runs() -> None:
    kernel = torch.cuda._compile_kernel(SCALE, "scale<double>")
    values = torch.arange(1000, dtype=torch.float64, device="cuda")
    out = torch.zeros_like(values)
    kernel((4, 1, 1), (256, 1, 1), [values, out, 2.5, 1000])
    assert torch.equal(out, values * 2.5)
    with torch.cuda.stream(torch.cuda.Stream()):
        kernel((4, 1, 1), (256, 1, 1), [out, out, 2.0, 10])
        assert out[:11].tolist() == [5.0 * value for value in range(10)] + [25.0]


def test_what_was_compiled_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.cuda._compile_kernel(SCALE, "scale<float>")
    (file,) = tmp_path.iterdir()
    program = (
        LOAD_STAND_INS + "import torch\nfrom torch.cuda import _kernels\n_kernels._compiler = None\n"
        f"kernel = torch.cuda._compile_kernel({SCALE!r}, 'scale<float>')\n"
        "x = torch.ones(8, device='cuda')\nkernel((1, 1, 1), (8, 1, 1), [x, x, 3.0, 8])\nprint(x.tolist())\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == str([3.0] * 8), answer.stderr
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])  # half of one is none
    torch.cuda._compile_kernel(SCALE, "scale<float>")
    assert len(file.read_bytes()) == len(whole)
    monkeypatch.setenv("USE_PYTORCH_KERNEL_CACHE", "0")
    torch.cuda._compile_kernel(SCALE, "scale<int>")
    assert list(tmp_path.iterdir()) == [file]


def test_element_wise_functions() -> None:
    create = torch.cuda.jiterator._create_jit_fn
    code = "template <typename T> T half_of(T x) { return x / 2; }"
    code += " template <typename T> T mix(T x, T y, T weight) { return half_of(x) + weight * y; }"
    mix = create(code, weight=3)
    x, y = torch.arange(600.0, device="cuda").view(3, 200), torch.arange(200.0, device="cuda")
    torch.testing.assert_close(mix(x, y), x / 2 + 3 * y)
    torch.testing.assert_close(mix(x.t(), y.view(200, 1), weight=0.5), x.t() / 2 + y.view(200, 1) / 2)
    assert mix(x.half()[:1], y.int()).dtype == torch.float16
    assert torch.equal(
        mix(torch.tensor([9], device="cuda"), torch.tensor([4], device="cuda")).cpu(), torch.tensor([16])
    )
    assert mix(x[:0], y).shape == (0, 200)
    both = torch.cuda.jiterator._create_multi_output_jit_fn(
        "template <typename T> void both(T x, T y, T& sum, T& difference) { sum = x + y; difference = x - y; }", 2
    )
    total, difference = both(x, y)
    assert torch.equal(total, x + y)
    assert torch.equal(difference, x - y)


def test_mistakes_in_element_wise_functions() -> None:
    create = torch.cuda.jiterator._create_jit_fn
    with pytest.raises(Exception, match="Couldn't parse code"):
        create("float f(float x) { return x; }")
    double = create("template <typename T> T twice(T x) { return 2 * x; }")
    x = torch.ones(2, device="cuda")
    with pytest.raises(TypeError, match="no number of the name scale"):
        double(x, scale=2)
    with pytest.raises(ValueError, match="one CUDA device"):
        double(torch.ones(2))
    with pytest.raises(ValueError, match="1 to 8 tensors, got 9"):
        double(*[x] * 9)
    with pytest.raises(TypeError, match="complex64"):
        double(x.to(torch.complex64))
    with pytest.raises(RuntimeError, match="Kernel compilation failed"):
        double(x, x)


def test_mistakes_are_told() -> None:
    with pytest.raises(RuntimeError, match=r"Kernel compilation failed:[\s\S]*missing"):
        torch.cuda._compile_kernel("__global__ void f() { missing(); }", "f")
    with pytest.raises(ValueError, match="cannot be empty"):
        torch.cuda._compile_kernel("", "f")
    kernel = torch.cuda._compile_kernel(SCALE, "scale<float>")
    with pytest.raises(ValueError, match="must be CUDA tensors or pinned"):
        kernel(args=[torch.ones(1), torch.ones(1), 1.0, 1])
    with pytest.raises(TypeError, match="Unsupported argument type"):
        kernel(args=["x"])
    with pytest.raises(OverflowError, match="does not fit"):
        kernel(args=[2**40])
    with pytest.raises(RuntimeError, match="invalid argument"):
        kernel((1, 1, 1), (4096, 1, 1), [torch.ones(1, device="cuda"), torch.ones(1, device="cuda"), 1.0, 1])


def test_properties_of_a_device() -> None:
    facts = torch.cuda.get_device_properties(torch.cuda.device_count() - 1)
    assert facts.warp_size == 32
    assert facts.multi_processor_count > 0
    assert facts.max_threads_per_multi_processor >= facts.max_threads_per_block >= 512
    assert facts.shared_memory_per_block >= 48 * 1024
    assert len(str(facts.uuid)) == 36
    assert f"multi_processor_count={facts.multi_processor_count}, uuid={facts.uuid}" in repr(facts)
    if torch.cuda.device_count() > 1:
        assert facts.uuid != torch.cuda.get_device_properties(0).uuid
    with pytest.raises(AttributeError, match="twisted"):
        _ = facts.twisted
