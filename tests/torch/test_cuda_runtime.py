"""What a CUDA device does beside operators: memory, streams, several devices, and errors that end a process."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))
needs_two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one device")


def _program(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import torch\n" + text],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_index_out_of_range_stops_the_device_and_says_so() -> None:
    answer = _program(
        "x = torch.zeros(3, device='cuda')\n"
        "try:\n    print(x[torch.tensor([7], device='cuda')].cpu())\n"
        "except RuntimeError as error:\n    print(error)\n"
        "try:\n    torch.ones(1, device='cuda').cpu()\n"
        "except torch.AcceleratorError as error:\n    print('still:', error, error.error_code)\n"
    )
    assert answer.returncode == 0, answer.stderr
    assert "device-side assert triggered" in answer.stdout
    assert "still: CUDA error: device-side assert triggered" in answer.stdout
    assert answer.stdout.rstrip().endswith(" 710")
    assert "index out of bounds" in answer.stderr
    assert "block: [0,0,0], thread: [0,0,0]" in answer.stderr


@pytest.mark.parametrize("blocking", [False, True])
def test_an_error_names_its_operator_where_that_is_known(blocking: bool) -> None:
    answer = _program(
        "x, wrong = torch.zeros(3, device='cuda'), torch.tensor([7], device='cuda')\n"
        "try:\n    y = x[wrong]\n    y = y + 1\n    y.cpu()\n"
        "except torch.AcceleratorError as error:\n    print(error.__traceback__.tb_lineno, error)\n",
        CUDA_LAUNCH_BLOCKING=str(int(blocking)),
    )
    assert answer.returncode == 0, answer.stderr
    assert "device-side assert triggered" in answer.stdout
    if blocking:
        assert answer.stdout.startswith("4 ")
        assert "in the operator index" in answer.stdout
    assert ("CUDA_LAUNCH_BLOCKING=1 shows which" in answer.stdout) is not blocking


def test_out_of_memory_leaves_the_device_usable() -> None:
    total = torch.cuda.get_device_properties(0).total_memory
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate .* MiB"):
        torch.empty(2 * total, dtype=torch.uint8, device="cuda")
    assert torch.ones(3, device="cuda").sum().item() == 3


@needs_two
def test_tensors_go_from_device_to_device() -> None:
    x = torch.arange(12.0, device="cuda:0").view(3, 4)
    y = x.t().to("cuda:1")
    assert y.device == torch.device("cuda:1")
    assert torch.equal(y.cpu(), x.cpu().t())
    with torch.cuda.device(1):
        assert torch.zeros(1, device="cuda").device.index == 1
    assert torch.cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="same device"):
        _ = x + y.t()


@needs_two
def test_collectives_of_one_process() -> None:
    nccl = torch.cuda.nccl

    def tensors() -> list[torch.Tensor]:
        return [torch.arange(4.0, device=f"cuda:{index}") + index for index in range(2)]

    def listed(values: list[torch.Tensor]) -> list[list[float]]:
        return [value.tolist() for value in values]

    nccl.all_reduce(values := tensors())
    assert listed(values) == [[1, 3, 5, 7]] * 2
    nccl.all_reduce(tensors(), values, op=2)
    assert listed(values) == [[1, 2, 3, 4]] * 2
    nccl.all_reduce(values := tensors(), op=4)
    assert listed(values) == [[0.5, 1.5, 2.5, 3.5]] * 2
    nccl.reduce(values := tensors(), root=1, op=1)
    assert listed(values) == [[0, 1, 2, 3], [0, 2, 6, 12]]
    nccl.broadcast(values := tensors(), root=1)
    assert listed(values) == [[1, 2, 3, 4]] * 2
    nccl.all_gather(tensors(), whole := [torch.zeros(8, device=f"cuda:{index}") for index in range(2)])
    assert listed(whole) == [[0, 1, 2, 3, 1, 2, 3, 4]] * 2
    nccl.reduce_scatter(tensors(), parts := [torch.zeros(2, device=f"cuda:{index}") for index in range(2)])
    assert listed(parts) == [[1, 3], [5, 7]]
    with pytest.raises(TypeError, match="collection of tensors"):
        nccl.all_reduce(values[0])
    for wrong in ([], values[:1] * 2, [values[0], torch.ones(4)], [value[::2] for value in values]):
        assert not wrong or not nccl.is_available(wrong)
        with pytest.raises(RuntimeError, match="one of each per device"):
            nccl.all_reduce(wrong)
    with pytest.raises(RuntimeError, match="no operation 7"):
        nccl.all_reduce(values, op=7)
    with pytest.raises(RuntimeError, match="do not fit an output of 3 elements"):
        nccl.all_gather(values, [torch.zeros(3, device=f"cuda:{index}") for index in range(2)])


def test_a_child_of_fork_is_told_that_it_cannot_use_cuda() -> None:
    answer = _program(
        "import os, sys\n"
        "torch.ones(1, device='cuda').cpu()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n        torch.ones(1, device='cuda').cpu()\n"
        "    except RuntimeError as error:\n        os.write(1, str(error).encode())\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    assert "initialization error" in answer.stdout, answer.stderr


def test_training_on_the_device_equals_the_cpus() -> None:
    def train(device: str) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        inputs = torch.linspace(-1, 1, 40).view(10, 4).to(device)
        targets = torch.arange(10).to(device) % 3
        losses = []
        for _ in range(8):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    assert train("cuda") == pytest.approx(train("cpu"), rel=1e-5)
    gc.collect()


def test_memory_is_counted_and_given_back() -> None:
    gc.collect()
    before = torch.cuda.memory_allocated()
    x = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_allocated() >= before + 4000
    del x
    assert torch.cuda.memory_allocated() == before
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()


def test_streams_wait_for_events() -> None:
    side = torch.cuda.Stream()
    assert side != torch.cuda.default_stream()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    for _ in range(20):
        x = torch.zeros(500, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            assert torch.cuda.current_stream() == side
            for _ in range(3):
                x += 1
        x.record_stream(side)
        torch.cuda.current_stream().wait_stream(side)
        assert x.sum().item() == 1500
    side.synchronize()
    assert side.query()


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x @ x,
        lambda x: torch.linalg.solve(x, x),
        lambda x: torch.linalg.svd(x).S,
        lambda x: torch.fft.rfft(x).abs(),
        lambda x: x.sort(dim=1).values,
        lambda x: x.cumsum(1),
        lambda x: x.unique(),
        lambda x: torch.nn.functional.conv2d(x.view(1, 1, 12, 12), x[:3, :3].view(1, 1, 3, 3)),
    ],
    ids=["product", "solver", "spectral", "fft", "sort", "scan", "unique", "convolution"],
)
def test_libraries_work_on_the_current_stream(compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    start = torch.eye(12) * 3 + torch.arange(144.0).view(12, 12) / 100
    expected = compute(start + 5)
    for _ in range(5):
        x = start.cuda()
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(5):
                x += 1
            torch.testing.assert_close(compute(x).cpu(), expected)


def test_how_exact_products_are() -> None:
    x = torch.randn(33, 20, dtype=torch.float64)
    for dtype in (torch.float16, torch.bfloat16):
        half = x.to(dtype)
        wanted = (half.double() @ half.double().t()).to(dtype)
        torch.testing.assert_close((half.cuda() @ half.cuda().t()).cpu(), wanted)
        sums = torch.addmm(wanted.cuda(), half.cuda(), half.cuda().t(), beta=0.5, alpha=2)
        torch.testing.assert_close(sums.cpu(), (wanted.double() / 2 + 2 * half.double() @ half.double().t()).to(dtype))
        torch.testing.assert_close(
            torch.bmm(half.view(3, 11, 20).cuda(), half[:20, :7].expand(3, 20, 7).cuda()).cpu(),
            (half.double().view(3, 11, 20) @ half.double()[:20, :7]).to(dtype),
        )
    barely = torch.full((2, 2), 1 + 2.0**-12, device="cuda")
    assert (barely @ torch.eye(2, device="cuda") == barely).all()
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = True
    try:
        assert torch.get_float32_matmul_precision() == "high"
        if torch.cuda.is_tf32_supported():
            assert (barely @ torch.eye(2, device="cuda") == 1).all()
    finally:
        matmul.fp32_precision = "ieee"
    assert not matmul.allow_tf32
    assert (barely @ torch.eye(2, device="cuda") == barely).all()
    with pytest.raises(AttributeError, match="Unknown attribute twisted"):
        matmul.twisted = True
    with pytest.raises(RuntimeError, match="Unknown precision: x"):
        matmul.fp32_precision = "x"


def test_events_measure_time() -> None:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="recorded"):
        start.elapsed_time(end)
    start.record()
    torch.ones(1000, device="cuda").mul_(2)
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(torch.cuda.Event())


@needs_two
def test_a_stream_brings_its_device_along() -> None:
    there = torch.cuda.Stream(device=1)
    with torch.cuda.stream(there):
        assert torch.cuda.current_device() == 1
        assert torch.ones(2, device="cuda").device.index == 1
    assert torch.cuda.current_device() == 0


def test_memory_is_told_in_pytorchs_words() -> None:
    x = torch.ones(1000, device="cuda")
    statistics = torch.cuda.memory_stats()
    assert statistics["allocated_bytes.all.current"] == torch.cuda.memory_allocated() >= 4000
    assert torch.cuda.memory_stats_as_nested_dict()["reserved_bytes"]["all"]["peak"] == torch.cuda.max_memory_reserved()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total
    assert "GPU reserved memory" in torch.cuda.memory_summary()
    del x


def test_elements_that_are_gigabytes_apart() -> None:
    whole = torch.empty(2**32 + 64, dtype=torch.int8, device="cuda")
    far = whole[:: 2**31]
    assert far.shape == (3,)
    far.copy_(torch.tensor([1, 2, 3], dtype=torch.int8))
    places = torch.tensor([2**32, 0], device="cuda")
    assert (far + far).tolist() == [2, 4, 6]
    assert torch.where(far > 1, far, 0 * far).tolist() == [0, 2, 3]
    assert far.sum().item() == 6
    assert far.amax().item() == 3
    assert far.float().tolist() == [1, 2, 3]
    assert torch.cat([far, far[1:]]).tolist() == [1, 2, 3, 2, 3]
    assert far.sort(descending=True).values.tolist() == [3, 2, 1]
    assert whole[places].tolist() == [3, 1]
    assert whole.index_select(0, places).tolist() == [3, 1]
    assert whole.gather(0, places).tolist() == [3, 1]
    order = torch.tensor([2, 0, 1], device="cuda")
    assert far.gather(0, order).tolist() == [3, 1, 2]
    assert torch.zeros_like(order, dtype=torch.int8).scatter_add_(0, order, far).tolist() == [2, 3, 1]
    whole[places] = 7
    assert far.tolist() == [7, 2, 7]
    far.fill_(5)
    assert far.masked_fill(far == 5, 4).tolist() == [4, 4, 4]


def test_rows_longer_than_a_block() -> None:
    x = torch.arange(2000.0).view(2, 1000) % 7
    assert torch.equal(x.cuda().cumsum(1).cpu(), x.cumsum(1))
    assert torch.equal(x.cuda().max(1).indices.cpu(), x.max(1).indices)
    torch.testing.assert_close(x.cuda().softmax(1).cpu(), x.softmax(1))


def test_a_seed_gives_pytorchs_numbers() -> None:
    # What PyTorch draws on a GPU, of any kind as long as the tensor is small.
    torch.manual_seed(0)
    uniform = [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203]
    torch.testing.assert_close(torch.rand(8, device="cuda").cpu(), torch.tensor(uniform), atol=5e-5, rtol=0)
    torch.manual_seed(0)
    normal = [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284]
    torch.testing.assert_close(torch.randn(8, device="cuda").cpu(), torch.tensor(normal), atol=5e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_number_is_drawn_twice(dtype: torch.dtype) -> None:
    # Far more elements than the device has threads, and another call after it.
    drawn = torch.cat([torch.randn(40_000, dtype=dtype, device="cuda").cpu() for _ in range(2)])
    assert drawn.unique().numel() > 0.99 * drawn.numel()
    assert drawn.mean().abs() < 0.02
    assert abs(drawn.std() - 1) < 0.02


@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda x: x.exponential_(2.0), 0.5),
        (lambda x: x.geometric_(0.25), 4.0),
        (lambda x: x.log_normal_(0.0, 0.25), 1.0317),
        (lambda x: x.bernoulli_(0.3), 0.3),
        (lambda x: x.fill_(0.3).bernoulli(), 0.3),
        (lambda x: torch.poisson(x.fill_(3.0)), 3.0),
        (lambda x: torch.poisson(x.fill_(30.0)), 30.0),
        (lambda x: torch.binomial(x.fill_(40.0), torch.full_like(x, 0.4)), 16.0),
        (lambda x: torch._standard_gamma(x.fill_(0.5)), 0.5),
        (lambda x: torch._standard_gamma(x.fill_(3.0)), 3.0),
        (lambda x: torch._sample_dirichlet(x[:400].fill_(2.0).view(-1, 4)), 0.25),
        (lambda x: torch.randint(0, 11, x.shape, device="cuda"), 5.0),
    ],
)
def test_distributions_have_their_means(draw: Callable[[torch.Tensor], torch.Tensor], mean: float) -> None:
    torch.manual_seed(1)
    drawn = draw(torch.empty(12_000, device="cuda")).double()
    assert drawn.is_cuda
    assert drawn.mean().item() == pytest.approx(mean, rel=0.05)


def test_gamma_and_dirichlet_samples_have_the_gradients_of_the_cpu() -> None:
    shapes = torch.tensor([[0.1, 2.0, 9.0], [40.0, 7.0, 0.5]], dtype=torch.float64)
    parts = torch.tensor([[0.1, 0.2, 0.7], [0.6, 0.3999, 0.0001]], dtype=torch.float64)
    for given in ((torch._standard_gamma_grad, shapes, shapes.flip(0)),
                  (torch._dirichlet_grad, parts, shapes, shapes.sum(-1, True))):  # fmt: skip
        function, *tensors = given
        assert torch.allclose(function(*(x.cuda() for x in tensors)).cpu(), function(*tensors), rtol=1e-12)
    alpha = shapes.cuda().requires_grad_()
    torch.distributions.Dirichlet(alpha).rsample()[:, 0].sum().backward()
    assert alpha.grad is not None
    assert (alpha.grad[:, 0] > 0).all()


def test_permutations_and_samples() -> None:
    assert torch.equal(torch.randperm(3000, device="cuda").sort().values.cpu(), torch.arange(3000))
    weights = torch.tensor([[0.0, 1.0, 2.0, 3.0], [4.0, 0.0, 0.0, 0.0]], device="cuda")
    several = torch.multinomial(weights, 500, replacement=True).cpu()
    assert (several[1] == 0).all()
    assert (several[0] == 3).double().mean().item() == pytest.approx(0.5, abs=0.1)
    once = torch.multinomial(weights[:1], 3).cpu()
    assert once.sort().values.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(("shape", "dim"), [((2, 4200), 1), ((2200, 3), 0), ((9000,), 0)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64], ids=str)
def test_sums_of_many_ranges(shape: tuple[int, ...], dim: int, dtype: torch.dtype) -> None:
    """Of which a warp adds up those of an output."""
    x = torch.arange(math.prod(shape)).remainder(101).view(shape).to(dtype)
    assert torch.equal(x.cuda().sum(dim).cpu(), x.sum(dim))
