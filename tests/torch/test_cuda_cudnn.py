"""cuDNN: what torch.backends.cudnn says of it, who convolves, and by which of its algorithms.

The emulated cuDNN (src/test/cuda_emulation/cudnn.cpp) tells how often it ran each of its algorithms: 0 needs no memory
and adds up gradients in any order, and is only a fallback; 1 needs some memory; 5 needs much and is proposed first.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from convolution_cases import CASES, DTYPES, TILES, Case, assert_close, compute_all, convolve, make_operands

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

cudnn = torch.backends.cudnn
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason())),
    pytest.mark.skipif(not cudnn.is_available(), reason="libtorch-cuda is built without cuDNN"),
]
EMULATED = bool(os.environ.get("CUDA_EMULATION"))
needs_emulation = pytest.mark.skipif(not EMULATED, reason="only the emulated cuDNN tells what it ran")

ALGORITHMS, ASKED = (0, 1, 5), -1
IMAGES = Case((2, 3, 7, 6), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1))


@contextmanager
def counted_runs() -> Iterator[dict[int, int]]:
    """How often a block ran each algorithm, and (ASKED) asked which there are."""
    library = ctypes.CDLL(str(Path(os.environ["TORCH_BACKEND_PATH"]) / "libcuda_emulation.so"))
    count = library.cuda_emulation_cudnn_calls
    count.restype = ctypes.c_long
    before = {number: count(number) for number in (*ALGORITHMS, ASKED)}
    runs: dict[int, int] = {}
    yield runs
    torch.cuda.synchronize()
    runs.update({number: count(number) - before[number] for number in before})


def _lay_last(tensor: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.to(memory_format=formats[tensor.dim()])


def _check(case: Case, dtype: torch.dtype, last: bool = False) -> None:
    operands = make_operands(case, dtype)
    expected = compute_all(case, *(operand.double() for operand in operands))
    image, weight, bias = (operand.cuda() for operand in operands)
    actual = compute_all(case, _lay_last(image) if last else image, _lay_last(weight) if last else weight, bias)
    for mine, truth in zip(actual, expected, strict=True):
        assert_close(mine, truth, dtype)


def test_what_is_said_of_it() -> None:
    assert 90000 <= (cudnn.version() or 0) < 100000
    assert cudnn.enabled
    assert not cudnn.benchmark
    assert not cudnn.deterministic
    assert cudnn.benchmark_limit == 10
    assert cudnn.is_acceptable(torch.ones(2, device="cuda"))
    assert not cudnn.is_acceptable(torch.ones(2, device="cuda", dtype=torch.int64))
    assert not cudnn.is_acceptable(torch.ones(2))
    with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=3, deterministic=True, depthwise_kernel="native"):
        assert (cudnn.benchmark, cudnn.benchmark_limit, cudnn.deterministic) == (True, 3, True)
        assert cudnn.depthwise_kernel == "native"
    assert (cudnn.benchmark, cudnn.benchmark_limit, cudnn.deterministic) == (False, 10, False)
    assert cudnn.depthwise_kernel == "auto"
    with pytest.raises(RuntimeError, match="set_benchmark_limit_cudnn expects an int, but got str"):
        cudnn.benchmark_limit = "x"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in CASES if name not in TILES])
def test_values_and_gradients(name: str, dtype: torch.dtype) -> None:
    with cudnn.flags(enabled=True, allow_tf32=False, depthwise_kernel="cudnn"):
        for last in (False, True):
            if not last or len(CASES[name].input) > 3:
                _check(CASES[name], dtype, last)


@needs_emulation
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_it_computes_all_three(last: bool, dtype: torch.dtype) -> None:
    """By its first algorithm, which bfloat16 is refused by when it runs, and which cannot be made ready for doubles."""
    with counted_runs() as runs:
        _check(IMAGES, dtype, last)
    wanted = 1 if dtype in (torch.bfloat16, torch.float64) else 5
    assert {number: runs[number] for number in ALGORITHMS} == {0: 0, 1: 0, 5: 0, wanted: 3}


@needs_emulation
def test_switched_off_it_does_nothing() -> None:
    with counted_runs() as runs, cudnn.flags(enabled=False, allow_tf32=False):
        _check(IMAGES, torch.float32)
    assert not any(runs.values())


@needs_emulation
def test_tf32_if_allowed() -> None:
    barely = torch.full((1, 4, 5, 5), 1 + 2.0**-12, device="cuda")
    weight = torch.eye(4, device="cuda").view(4, 4, 1, 1)
    assert (torch.nn.functional.conv2d(barely, weight) == barely).all()
    cudnn.allow_tf32 = True
    assert (torch.nn.functional.conv2d(barely, weight) == 1).all()


@needs_emulation
@pytest.mark.parametrize(
    ("kernel", "last", "is_cudnns"),
    [("auto", False, False), ("auto", True, True), ("cudnn", False, True), ("native", True, False)],
)
def test_who_convolves_channels_one_by_one(kernel: str, last: bool, is_cudnns: bool) -> None:
    with counted_runs() as runs, cudnn.flags(enabled=True, allow_tf32=False, depthwise_kernel=kernel):
        _check(CASES["channelwise"], torch.float32, last)
    assert sum(runs[number] for number in ALGORITHMS) == 3 * is_cudnns


@contextmanager
def _memory(count: int) -> Iterator[None]:
    """A block in which the process may have so many bytes of the device beside those that it has."""
    torch.cuda.synchronize()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + count) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@needs_emulation
@pytest.mark.parametrize("deterministic", ["no", "cudnn", "program"])
def test_algorithms_without_memory_are_passed_over(deterministic: str) -> None:
    """Those that are not deterministic are too, where somebody wants that, and the products are left."""
    case = Case((1, 8, 40, 30), (8, 8, 3, 3), (1, 1), (1, 1), (1, 1))
    image, weight = make_operands(case, torch.float32)[:2]
    image_of_cpu = image.double().requires_grad_()
    expected = convolve(case, image_of_cpu, weight.double(), None)
    mine, filters, grad = image.cuda().requires_grad_(), weight.cuda(), torch.ones(1, 8, 40, 30, device="cuda")
    bytes_of_image = 4 * image.numel()
    torch.use_deterministic_algorithms(deterministic == "program")
    try:
        with cudnn.flags(enabled=True, deterministic=deterministic == "cudnn", allow_tf32=False):
            with counted_runs() as runs, _memory(bytes_of_image * 3 // 2):
                out = convolve(case, mine, filters, None)
            assert [runs[number] for number in ALGORITHMS] == [1, 0, 0]
            with counted_runs() as runs, _memory(bytes_of_image * 5 // 2):
                (found,) = torch.autograd.grad(out, mine, grad)
            assert [runs[number] for number in ALGORITHMS] == [int(deterministic == "no"), 0, 0]
    finally:
        torch.use_deterministic_algorithms(False)
    assert_close(out.detach(), expected.detach(), torch.float32)
    assert_close(found, torch.autograd.grad(expected, image_of_cpu, grad.cpu().double())[0], torch.float32)


@needs_emulation
def test_an_algorithm_gives_way_without_its_memory() -> None:
    case = Case((1, 8, 40, 31), (8, 8, 3, 3), (1, 1), (1, 1), (1, 1))
    image, weight = (operand.cuda() for operand in make_operands(case, torch.float32)[:2])
    with cudnn.flags(enabled=True, allow_tf32=False):
        with counted_runs() as runs:
            expected = convolve(case, image, weight, None)
        assert [runs[number] for number in ALGORITHMS] == [0, 0, 1]
        with counted_runs() as runs, _memory(4 * image.numel() * 3 // 2):
            out = convolve(case, image, weight, None)
        assert [runs[number] for number in ALGORITHMS] == [1, 0, 0]
    assert torch.equal(out, expected)


@pytest.mark.parametrize("by", ["cudnn", "program"])
def test_deterministic_ones_give_the_same_bits(by: str) -> None:
    case = Case((2, 8, 9, 8), (8, 8, 3, 3), (2, 1), (1, 1), (1, 1))
    operands = [operand.cuda() for operand in make_operands(case, torch.float32)]
    torch.use_deterministic_algorithms(by == "program")
    try:
        with cudnn.flags(enabled=True, deterministic=by == "cudnn", allow_tf32=False):
            first = compute_all(case, *operands)
            for _ in range(3):
                assert all(torch.equal(a, b) for a, b in zip(first, compute_all(case, *operands), strict=True))
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_of_the_fastest(dtype: torch.dtype) -> None:
    with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=0, allow_tf32=False):
        for _ in range(2):
            _check(IMAGES, dtype)


@needs_emulation
def test_algorithms_are_tried_once() -> None:
    case = Case((1, 2, 8, 7), (3, 2, 3, 3), (1, 1), (1, 0), (1, 1))  # for which there are two
    image, weight, _ = (operand.cuda() for operand in make_operands(case, torch.float32))
    for limit, tried in ((10, 2), (0, 2), (1, 1)):
        with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=limit, allow_tf32=False):
            with counted_runs() as runs:
                convolve(case, image, weight, None)
            assert runs[ASKED] == 1
            assert sum(runs[number] for number in ALGORITHMS) == 2 * tried + 1
            with counted_runs() as runs:
                convolve(case, image, weight, None)
            assert runs[ASKED] == 0
            assert sum(runs[number] for number in ALGORITHMS) == 1


@needs_emulation
@pytest.mark.parametrize("change", ["dilation", "padding", "batch", "type"])
def test_an_algorithm_is_of_its_geometry(change: str) -> None:
    """What else needs another size of memory."""
    case = Case((1, 2, 9, 9), (3, 2, 2, 2), (2, 2), (1, 1), (1, 1))
    _check(case, torch.float16)
    with counted_runs() as runs:
        if change == "dilation":
            _check(case._replace(dilation=(2, 2)), torch.float16)  # with a result of the same size
        elif change == "padding":
            _check(case._replace(padding=(2, 2)), torch.float16)
        elif change == "batch":
            _check(case._replace(input=(4, 2, 9, 9)), torch.float16)
        else:
            _check(case, torch.float32)
    assert runs[ASKED] == 3


def test_work_that_is_recorded_is_not_timed() -> None:
    case = Case((1, 2, 8, 6), (3, 2, 2, 3), (1, 1), (0, 1), (1, 1))
    image, weight, _ = make_operands(case, torch.float32)
    mine, filters = torch.zeros_like(image, device="cuda"), weight.cuda()
    convolve(Case((1, 2, 3, 3), *case[1:]), mine[..., :3, :3], filters, None)  # whatever is loaded by the first
    graph = torch.cuda.CUDAGraph()
    with cudnn.flags(enabled=True, benchmark=True, allow_tf32=False), torch.cuda.graph(graph):
        out = convolve(case, mine, filters, None)
    mine.copy_(image)
    graph.replay()
    assert_close(out, convolve(case, image.double(), weight.double(), None), torch.float32)


@needs_emulation
def test_what_it_does_not_take_is_computed_without_it() -> None:
    dilated = Case((1, 3, 4, 5, 4), (4, 3, 2, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 2))
    more = Case((1, 2, 4), (2, 1, 2), (1,), (0,), (3,), 1, True, (2,))  # than a step: the result of no convolution
    with counted_runs() as runs:
        _check(dilated, torch.float32, last=True)
        convolve(more, *(operand.cuda() for operand in make_operands(more, torch.float32)))
    assert not any(runs[number] for number in ALGORITHMS)
    with counted_runs() as runs:
        _check(dilated, torch.float32, last=True)
    assert not any(runs.values())  # it was asked once


@needs_emulation
def test_doubles_are_laid_out_for_it() -> None:
    image, weight, bias = (operand.cuda() for operand in make_operands(IMAGES, torch.float64))
    with counted_runs() as runs:
        out = convolve(IMAGES, _lay_last(image), weight, bias)
    assert sum(runs[number] for number in ALGORITHMS) == 1
    assert out.is_contiguous(memory_format=torch.channels_last)


WITHOUT_ITS_LIBRARY = """
import torch
cudnn = torch.backends.cudnn
assert cudnn.is_available()
convolve = lambda: torch.nn.functional.conv1d(torch.ones(1, 1, 3, device="cuda"), torch.ones(1, 1, 2, device="cuda"))
for call in (convolve, cudnn.version):
    try:
        call()
    except RuntimeError as error:
        assert "libtorch_cuda_dnn.so, which could not be loaded" in str(error), error
        assert "libcudnn" in str(error), error
    else:
        raise SystemExit("nobody missed it")
cudnn.enabled = False
print(convolve().tolist())
"""


@needs_emulation
def test_without_the_library_that_it_was_built_with(tmp_path: Path) -> None:
    """An error, no silent change of who computes."""
    for library in Path(os.environ["TORCH_BACKEND_PATH"]).glob("*.so*"):
        if library.name != "libtorch_cuda_dnn.so":
            (tmp_path / library.name).symlink_to(library)
    environment = os.environ | {"TORCH_BACKEND_PATH": str(tmp_path)}
    command = [sys.executable, "-c", WITHOUT_ITS_LIBRARY]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "[[[2.0, 2.0]]]", found.stderr
