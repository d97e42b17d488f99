"""Pinned memory, pools, limits and what the allocators tell about themselves."""

from __future__ import annotations

import gc

import pytest

import torch
from torch.utils.data import DataLoader, TensorDataset

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
