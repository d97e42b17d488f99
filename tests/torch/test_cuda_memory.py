"""Pinned memory, pools, limits and what the allocators tell about themselves."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import torch
from torch.utils.data import DataLoader, TensorDataset

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


def test_pinned_tensors() -> None:
    plain = torch.arange(12.0).reshape(3, 4).t()
    assert not plain.is_pinned()
    pinned = plain.pin_memory()
    assert pinned.is_pinned()
    assert pinned.pin_memory().data_ptr() == pinned.data_ptr()
    assert pinned[1:].is_pinned()
    assert pinned.untyped_storage().is_pinned()
    assert pinned.stride() == plain.stride()
    assert torch.equal(pinned, plain)
    assert not plain.cuda().is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        plain.cuda().pin_memory()
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.empty(2, device="cuda", pin_memory=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(3, pin_memory=True),
        lambda: torch.empty_strided((2, 2), (1, 2), pin_memory=True),
        lambda: torch.zeros(3, pin_memory=True),
        lambda: torch.ones(3, pin_memory=True),
        lambda: torch.full((3,), 2, pin_memory=True),
        lambda: torch.arange(3, pin_memory=True),
        lambda: torch.linspace(0, 1, 3, pin_memory=True),
        lambda: torch.rand(3, pin_memory=True),
        lambda: torch.randn(3, pin_memory=True),
        lambda: torch.randint(3, (4,), pin_memory=True),
        lambda: torch.empty_like(torch.ones(2), pin_memory=True),
        lambda: torch.zeros_like(torch.ones(2), pin_memory=True),
        lambda: torch.tensor([1, 2], pin_memory=True),
    ],
)
def test_factories_make_pinned_tensors(make: object) -> None:
    assert make().is_pinned()  # type: ignore[operator]


def test_gradients_go_through_pinning() -> None:
    leaf = torch.ones(3, requires_grad=True)
    (leaf.pin_memory().cuda(non_blocking=True) * 2).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2, 2, 2]


def test_copies_beside_other_work() -> None:
    for seed in range(20):
        pinned = torch.full((1000,), float(seed)).pin_memory()
        there = pinned.cuda(non_blocking=True)
        back = torch.empty(1000, pin_memory=True)
        back.copy_(there + 1, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        assert back.eq(seed + 1).all()


def test_pinned_memory_is_not_used_again_while_a_copy_reads_it() -> None:
    results = []
    for value in range(40):
        pinned = torch.full((512,), float(value), pin_memory=True)
        results.append(pinned.cuda(non_blocking=True))
        del pinned  # the copy may not have begun
    torch.cuda.synchronize()
    assert [result.mean().item() for result in results] == list(range(40))


def test_host_memory_is_counted() -> None:
    before = torch.cuda.host_memory_stats()["active_bytes.current"]
    pinned = torch.empty(1000, dtype=torch.uint8, pin_memory=True)
    assert torch.cuda.host_memory_stats()["active_bytes.current"] == before + 1024
    assert torch.cuda.host_memory_stats_as_nested_dict()["active_bytes"]["peak"] >= before + 1024
    del pinned
    assert torch.cuda.host_memory_stats()["active_bytes.current"] == before
    torch.cuda.reset_peak_host_memory_stats()
    assert torch.cuda.host_memory_stats()["active_bytes.peak"] == before


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_pins(workers: int) -> None:
    dataset = TensorDataset(torch.arange(10.0), torch.arange(10))
    seen = []
    for values, numbers in DataLoader(dataset, batch_size=4, pin_memory=True, num_workers=workers):
        assert values.is_pinned()
        assert numbers.is_pinned()
        seen += values.cuda(non_blocking=True).tolist()
    assert seen == list(range(10))
    for _ in DataLoader(dataset, pin_memory=True, num_workers=workers):
        break  # left half way


def test_statistics() -> None:
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()
    tensor = torch.empty(1000, dtype=torch.uint8, device="cuda")
    during = torch.cuda.memory_stats()
    assert during["allocation.all.current"] == before["allocation.all.current"] + 1
    assert during["requested_bytes.all.current"] == before["requested_bytes.all.current"] + 1000
    assert during["allocation.small_pool.current"] == before["allocation.small_pool.current"] + 1
    assert during["active_bytes.all.allocated"] >= before["active_bytes.all.allocated"] + 1000
    del tensor
    after = torch.cuda.memory_stats()
    assert after["allocation.all.current"] == before["allocation.all.current"]
    assert after["allocation.all.freed"] == before["allocation.all.freed"] + 1
    torch.cuda.reset_accumulated_memory_stats()
    assert torch.cuda.memory_stats()["allocation.all.freed"] == 0
    summary = torch.cuda.memory_summary()
    assert "Allocated memory" in summary
    assert len({len(line) for line in summary.splitlines()}) == 1
    assert len(torch.cuda.memory_summary(abbreviated=True)) < len(summary)


def test_memory_begins_at_multiples_of_what_kernels_read_at_once() -> None:
    """Also that which was freed while another stream might read it, or a graph was recorded."""
    other, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    read_elsewhere = torch.empty(5003, dtype=torch.uint8, device="cuda")
    read_elsewhere.record_stream(other)
    del read_elsewhere
    torch.cuda.synchronize()
    odd = [torch.empty(71, dtype=torch.uint8, device="cuda") for _ in range(4)]
    with torch.cuda.graph(graph):
        freed = torch.empty(7001, dtype=torch.uint8, device="cuda")
        del freed
        odd += [torch.empty(71, dtype=torch.uint8, device="cuda") for _ in range(4)]
    assert [tensor.data_ptr() % 16 for tensor in odd] == [0] * 8


def test_snapshot() -> None:
    tensor = torch.empty(3000, dtype=torch.uint8, device="cuda")
    (segment,) = (
        segment
        for segment in torch.cuda.memory_snapshot()
        if any(block["address"] == tensor.data_ptr() for block in segment["blocks"])
    )
    (block,) = (block for block in segment["blocks"] if block["address"] == tensor.data_ptr())
    assert block["state"] == "active_allocated"
    assert block["requested_size"] == 3000
    assert segment["total_size"] == sum(block["size"] for block in segment["blocks"])
    assert segment["allocated_size"] >= 3000
    assert segment["device"] == torch.cuda.current_device()


def test_snapshot_in_a_file(tmp_path: Path) -> None:
    tensors = [torch.empty(3000, device=f"cuda:{index}") for index in range(torch.cuda.device_count())]
    file = tmp_path / "snapshot.pickle"
    torch.cuda.memory._dump_snapshot(str(file))
    dumped = pickle.loads(file.read_bytes())
    assert dumped["segments"] == torch.cuda.memory_snapshot()
    assert len(dumped["device_traces"]) == len(tensors)
    own = torch.cuda.memory._snapshot("cuda:0")["segments"]
    assert own == [segment for segment in dumped["segments"] if segment["device"] == 0]
    torch.cuda.memory._record_memory_history(enabled=None)
    with pytest.raises(NotImplementedError, match="is not recorded"):
        torch.cuda.memory._record_memory_history()


def test_a_limit_is_out_of_memory() -> None:
    torch.cuda.empty_cache()
    _, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(0.5)
    try:
        assert torch.cuda.get_per_process_memory_fraction() == 0.5
        with pytest.raises(torch.cuda.OutOfMemoryError, match=r"may take 0\.5 of the device"):
            torch.empty(int(0.6 * total), dtype=torch.uint8, device="cuda")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    with pytest.raises(ValueError, match="Invalid fraction value"):
        torch.cuda.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)  # type: ignore[arg-type]


def test_pools() -> None:
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = torch.ones(100, device="cuda")
    outside = torch.ones(100, device="cuda")
    addresses = {block["address"] for segment in pool.snapshot() for block in segment["blocks"]}
    assert inside.data_ptr() in addresses
    assert outside.data_ptr() not in addresses
    number = pool.id
    del inside, pool
    torch.cuda.empty_cache()
    assert torch.cuda.memory_snapshot(number) == []


def test_raw_memory() -> None:
    before = torch.cuda.memory_allocated()
    address = torch.cuda.caching_allocator_alloc(1000)
    assert torch.cuda.memory_allocated() >= before + 1000
    torch.cuda.caching_allocator_delete(address)
    assert torch.cuda.memory_allocated() == before
    with pytest.raises(ValueError, match="is not memory of caching_allocator_alloc"):
        torch.cuda.caching_allocator_delete(address)


def test_storages_of_the_device() -> None:
    storage = torch.cuda.FloatStorage(3)
    assert storage.is_cuda
    assert len(storage) == 3
    assert isinstance(torch.ones(2, device="cuda").storage(), torch.cuda.FloatStorage)
    assert not isinstance(torch.ones(2).storage(), torch.cuda.FloatStorage)
    assert not isinstance(torch.ones(2, dtype=torch.int64, device="cuda").storage(), torch.cuda.FloatStorage)


def _program(text: str, settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTORCH_NO_CUDA_MEMORY_CACHING"}
    return subprocess.run(
        [sys.executable, "-c", "import torch\n" + text],
        env=environment | {"PYTORCH_CUDA_ALLOC_CONF": settings},
        capture_output=True,
        text=True,
        check=False,
    )


def _answer(text: str, settings: str = "") -> list[str]:
    answer = _program(text, settings)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


MIB = "def take(mib): return torch.empty(int(mib * 2**20), dtype=torch.uint8, device='cuda')\n"


def test_large_blocks_are_not_cut_if_so_set() -> None:
    """30 MiB fit into freed 40; with a limit of 25 both are above it, and 20 do not fit into what is above."""
    text = MIB + (
        "x = take(40); del x\nx = take(30)\n"
        "print(torch.cuda.memory_reserved() >> 20, torch.cuda.memory_allocated() >> 20)\n"
        "del x\nx = take(22); print(torch.cuda.memory_reserved() >> 20)\n"
    )
    assert _answer(text) == ["40", "30", "40"]
    assert _answer(text, "max_split_size_mb:25") == ["40", "40", "62"]
    assert _answer(text, "max_split_size_mb:25,max_non_split_rounding_mb:20") == ["40", "40", "62"]


def test_sizes_are_rounded_up_to_parts_of_powers_of_two() -> None:
    text = MIB + "x = take(4.2)\nprint(torch.cuda.memory_allocated() / 2**20)\n"
    assert float(_answer(text)[0]) < 4.21
    assert _answer(text, "roundup_power2_divisions:4") == ["5.0"]
    assert _answer(text, "roundup_power2_divisions:[2:1,4:2,>:8]") == ["6.0"]
    assert _answer(text, "roundup_power2_divisions:[1:1,2:2,>:8]") == ["4.5"]


def test_old_free_segments_are_given_back_beyond_the_threshold() -> None:
    text = MIB + (
        "torch.cuda.set_per_process_memory_fraction(200 * 2**20 / torch.cuda.get_device_properties(0).total_memory)\n"
        "x = take(60); y = take(40); del x; del y\nz = take(70)\nprint(torch.cuda.memory_reserved() >> 20)\n"
        "segments = torch.cuda.memory_snapshot()\n"
        "print(*sorted(one['total_size'] >> 20 for one in segments if one['active_size'] == 0))"
    )
    assert _answer(text) == ["170", "40", "60"]
    assert _answer(text, "garbage_collection_threshold:0.6") == ["110", "40"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("max_split_size_mb:10", "max_split_size_mb too small, must be >= 20"),
        ("max_split_size_mb:x", "takes a whole number, got 'x'"),
        ("max_split_size_mb", "OPTION:VALUE, got 'max_split_size_mb'"),
        ("garbage_collection_threshold:1.5", r"garbage_collection_threshold is invalid, set it in (0.0, 1.0)"),
        ("roundup_power2_divisions:3", "the divisions has to be power of 2"),
        ("roundup_power2_divisions:[100:1]", "the intervals have to be power of 2"),
    ],
)
def test_settings_that_are_none(settings: str, words: str) -> None:
    answer = _program("torch.ones(1, device='cuda')", settings)
    assert answer.returncode != 0
    assert "ValueError" in answer.stderr
    assert words in answer.stderr


def test_a_setting_that_does_nothing_says_so() -> None:
    program = "print(torch.ones(1, device='cuda').item())"
    answer = _program(program, "expandable_segments:True, max_split_size_mb:100")
    assert answer.stdout == "1.0\n"
    assert "does nothing for expandable_segments:True" in answer.stderr
    assert "does nothing" not in _program(program, "expandable_segments:False,backend:native").stderr
