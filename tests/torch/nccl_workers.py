"""What the tests of NCCL run in several processes, each with a device: a module, because those have to import it."""

from __future__ import annotations

import contextlib
import datetime
import os
import signal
import sys
import time
from typing import Any

import distributed_workers
from distributed_training import batches, network
from distributed_workers import equal, member

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp


def join(rank: int, size: int, port: int, seconds: float = 60, backend: str | None = "nccl", **options: Any) -> None:
    torch.cuda.set_device(rank % torch.cuda.device_count())
    timeout = datetime.timedelta(seconds=seconds)
    dist.init_process_group(backend, f"tcp://127.0.0.1:{port}", timeout, world_size=size, rank=rank, **options)


def run(rank: int, name: str, size: int, port: int, *arguments: Any) -> None:
    """One member: join, do what is asked for, leave."""
    join(rank, size, port)
    globals()[name](rank, size, *arguments)
    dist.destroy_process_group()
    assert not dist.is_initialized()


def done(work: Any) -> None:
    if work is not None:
        assert work.wait()
        torch.cuda.synchronize()
        assert work.is_completed()
        assert work.is_success()


def like(rank: int) -> torch.Tensor:
    return member(rank).cuda()


def collectives(rank: int, size: int) -> None:
    """Every collective, against its definition, which each member computes alone."""
    assert dist.get_backend() == "nccl"
    everybody = torch.stack([member(other) for other in range(size)])
    for asynchronous in (False, True):
        for name, expected in distributed_workers.reductions(everybody):
            if name.startswith("B"):
                continue
            for root in (None, size - 1):
                tensor = like(rank).t()[:, :]  # any strides
                operation = getattr(ReduceOp, name)
                if root is None:
                    done(dist.all_reduce(tensor, operation, async_op=asynchronous))
                else:
                    done(dist.reduce(tensor, root, operation, async_op=asynchronous))
                equal(tensor.cpu(), (expected if root in (None, rank) else member(rank)).t())
        mean = like(rank).double()
        done(dist.all_reduce(mean, ReduceOp.AVG, async_op=asynchronous))
        equal(mean.cpu(), everybody.double().mean(0))
        for root in range(size):
            tensor = like(rank)
            done(dist.broadcast(tensor, root, async_op=asynchronous))
            equal(tensor.cpu(), everybody[root])
            received = torch.zeros_like(tensor)
            sent = [row.cuda() + 100 for row in everybody] if rank == root else None
            done(dist.scatter(received, sent, root, async_op=asynchronous))
            equal(received.cpu(), everybody[rank] + 100)
            places = [torch.zeros_like(tensor) for _ in range(size)] if rank == root else None
            done(dist.gather(like(rank), places, root, async_op=asynchronous))
            assert places is None or all(
                torch.equal(place.cpu(), row) for place, row in zip(places, everybody, strict=True)
            )
        places = [torch.zeros(3, 2, dtype=torch.int64, device="cuda").t() for _ in range(size)]
        done(dist.all_gather(places, like(rank), async_op=asynchronous))
        equal(torch.stack([place.cpu() for place in places]), everybody)
        flat = torch.zeros(2 * size, 3, dtype=torch.int64, device="cuda")
        done(dist.all_gather_into_tensor(flat, like(rank), async_op=asynchronous))
        equal(flat.cpu(), everybody.view(-1, 3))
        apart = torch.zeros(3, 2 * size, dtype=torch.int64, device="cuda").t()
        done(dist.all_gather_into_tensor(apart, like(rank), async_op=asynchronous))
        equal(apart.cpu(), everybody.view(-1, 3))
        # Member j's row for member i is 100 j + i.
        rows = (torch.arange(size).view(size, 1).repeat(1, 2) + 100 * rank).cuda()
        part = torch.zeros(2, dtype=torch.int64, device="cuda")
        done(dist.reduce_scatter_tensor(part, rows.view(-1), async_op=asynchronous))
        equal(part.cpu(), torch.full((2,), sum(100 * other + rank for other in range(size))))
        done(dist.reduce_scatter(part, list(rows.unbind()), ReduceOp.MAX, async_op=asynchronous))
        equal(part.cpu(), torch.full((2,), 100 * (size - 1) + rank))
        received = torch.zeros_like(rows)
        done(dist.all_to_all_single(received, rows, async_op=asynchronous))
        equal(received.cpu(), torch.arange(size).view(size, 1).repeat(1, 2) * 100 + rank)
        sizes = [other + 1 for other in range(size)]  # member i sends j + 1 rows to member j
        source = torch.full((sum(sizes), 2), rank, device="cuda")
        target = torch.zeros((rank + 1) * size, 2, dtype=torch.int64, device="cuda")
        done(dist.all_to_all_single(target, source, [rank + 1] * size, sizes, async_op=asynchronous))
        equal(target.cpu(), torch.arange(size).repeat_interleave(rank + 1).view(-1, 1).repeat(1, 2))
        outputs = [torch.zeros(other + rank, device="cuda") for other in range(size)]
        inputs = [torch.full((other + rank,), float(rank), device="cuda") for other in range(size)]
        done(dist.all_to_all(outputs, inputs, async_op=asynchronous))
        assert all(bool((output.cpu() == other).all()) for other, output in enumerate(outputs))
        pair = [torch.ones(2, device="cuda"), torch.full((2, 2), float(rank), device="cuda")]
        done(dist.all_reduce_coalesced(pair, async_op=asynchronous))
        equal([each.cpu() for each in pair], [torch.full((2,), size * 1.0), torch.full((2, 2), sum(range(size)) * 1.0)])
        done(dist.barrier(async_op=asynchronous))
    dist.barrier(device_ids=[torch.cuda.current_device()])
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20))
    dist.barrier()  # rank 0 serves the store


def types(rank: int, size: int) -> None:
    """All types; what NCCL cannot do is said before anybody waits."""
    import pytest

    for dtype in distributed_workers.DTYPES:
        tensor = torch.tensor([rank + 1, 0, 2]).to(dtype)
        places = [torch.zeros(3, dtype=dtype, device="cuda") for _ in range(size)]
        dist.all_gather(places, tensor.cuda())
        for other, place in enumerate(places):
            equal(place.cpu(), torch.tensor([other + 1, 0, 2]).to(dtype))
        on_device = tensor.cuda()
        if dtype in (torch.int16, torch.uint16):
            with pytest.raises(TypeError, match="Input tensor data type is not supported for NCCL process group"):
                dist.all_reduce(on_device)
            continue
        dist.all_reduce(on_device)
        equal(on_device.cpu(), torch.tensor([size * (size + 1) // 2, 0, 2 * size]).to(dtype))
    empty = torch.zeros(0, device="cuda")
    dist.all_reduce(empty)
    dist.broadcast(empty, 0)
    with pytest.raises(ValueError, match=r"Cannot use ReduceOp\.BAND with NCCL"):
        dist.all_reduce(torch.ones(1, dtype=torch.int64, device="cuda"), ReduceOp.BAND)
    with pytest.raises(TypeError, match="complex64 cannot be reduced by max"):
        dist.all_reduce(torch.ones(1, dtype=torch.complex64, device="cuda"), ReduceOp.MAX)
    with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
        dist.all_reduce(torch.ones(1))
    with pytest.raises(ValueError, match="one device"):
        dist.all_gather([torch.ones(1, device=f"cuda:{other % 2}") for other in range(size)], torch.ones(1).cuda())
    large = torch.arange(5_000, dtype=torch.float32, device="cuda") + rank
    dist.all_reduce(large)
    equal(large.cpu(), torch.arange(5_000, dtype=torch.float32) * size + sum(range(size)))


def messages(rank: int, size: int) -> None:
    """Between two before the others do anything, around a ring, and objects; groups of some, and for both devices."""
    import pytest

    if rank == 1:
        dist.send(torch.full((3,), 7.0, device="cuda"), 2)
    elif rank == 2:
        received = torch.zeros(3, device="cuda")
        assert dist.recv(received, 1) == 1
        equal(received.cpu(), torch.full((3,), 7.0))
    following, before = (rank + 1) % size, (rank - 1) % size
    received = torch.zeros(2, device="cuda")
    operations = [
        dist.P2POp(dist.isend, torch.full((2,), float(rank), device="cuda"), following),
        dist.P2POp(dist.irecv, received, before),
    ]
    (work,) = dist.batch_isend_irecv(operations)
    done(work)
    equal(received.cpu(), torch.full((2,), float(before)))
    with pytest.raises(ValueError, match="`src` is None"):
        dist.recv(received)

    everybody: list[Any] = [None] * size
    dist.all_gather_object(everybody, {"rank": rank, "more": "x" * rank * 1000})
    assert everybody == [{"rank": other, "more": "x" * other * 1000} for other in range(size)]
    words = [1, "two", None] if rank == 0 else [None] * 3
    dist.broadcast_object_list(words, 0)
    assert words == [1, "two", None]
    own = [None]
    dist.scatter_object_list(own, [f"for {other}" for other in range(size)] if rank == 0 else None, 0)
    assert own == [f"for {rank}"]

    even, odd = dist.new_group(list(range(0, size, 2))), dist.new_group(list(range(1, size, 2)))
    total = torch.tensor([rank], device="cuda")
    dist.all_reduce(total, group=odd if rank % 2 else even)
    assert int(total) == sum(range(rank % 2, size, 2))
    both = dist.new_group(backend="cpu:gloo,cuda:nccl")
    assert dist.get_backend_config(both) == "cpu:gloo,cuda:nccl"
    for device in ("cpu", "cuda"):
        total = torch.tensor([rank], device=device)
        dist.all_reduce(total, group=both)
        assert int(total) == sum(range(size))


def streams(rank: int, size: int) -> None:
    """A call is work of a stream of its own: it waits for the current one, and only `wait()` lets that wait for it."""
    from torch.distributed import _device_work

    store = dist.distributed_c10d._get_default_group().get_group_store()
    dist.barrier()  # the first call connects, which all members do together
    # Rank 0 calls late. Nobody waits for it but who says so: neither the host, nor the current stream.
    with torch.cuda.stream(torch.cuda.Stream()):
        for number in range(4):
            tensor = torch.zeros(64, device="cuda")
            tensor += rank + number
            if rank == 0:
                store.wait([f"seen {number}"])
            work = dist.all_reduce(tensor, async_op=True)
            if rank == 1:
                assert tensor.cpu().tolist() == [rank + number] * 64, "without wait() it is what it was"
                assert not work.is_completed()
                work.wait()
                total = tensor.clone()
                assert not work.is_completed(), "wait() does not block the host"
                store.set(f"seen {number}", "1")
            else:
                work.wait()
                total = tensor.clone()
            assert total.cpu().tolist() == [sum(range(size)) + size * number] * 64
            assert work.is_completed()
            del tensor, total, work  # now: to free memory later would wait for the next call
    # A future's callback is work of the call's stream.
    tensor = torch.full((1,), float(rank), device="cuda")
    future = dist.all_reduce(tensor, async_op=True).get_future().then(lambda done: done.value()[0] * 2)
    assert int(future.wait()) == 2 * sum(range(size))
    # Without the order of the streams, sums are of what was not there yet.
    original = _device_work.DeviceWork._reach

    def unordered(work: Any, communicator: Any, run: Any) -> None:
        work._stream, work._flight.communicator = torch.cuda.current_stream(), communicator
        work._extend(run)

    _device_work.DeviceWork._reach = unordered  # type: ignore[method-assign]
    wrong = 0
    for _ in range(12):
        tensor = torch.zeros(64, device="cuda")
        tensor += 1
        dist.all_reduce(tensor)
        wrong += tensor.cpu().tolist() != [size] * 64
    _device_work.DeviceWork._reach = original  # type: ignore[method-assign]
    counts = [0] * size
    dist.all_gather_object(counts, wrong)
    assert any(counts), "nobody sees that a call did not wait for its tensor"


def training(rank: int, size: int) -> None:
    """DistributedDataParallel's parameters on devices are gloo's, and those of one process with all data."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
    from torch.nn.parallel import DistributedDataParallel

    gloo = dist.new_group(backend="gloo")
    for options in ({}, {"hook": allreduce_hook, "bucket_cap_mb": 0.0001}, {"find_unused_parameters": True}):
        hook = options.pop("hook", None)
        modules = [network() for _ in range(3)]
        for module in modules:
            module[1] = torch.nn.Identity()
        modules[0].cuda()
        if rank:
            modules[0][0].weight.data.zero_()  # rank 0's are everybody's
        device = torch.cuda.current_device()
        model = DistributedDataParallel(modules[0], device_ids=[device], **options)
        if hook:
            model.register_comm_hook(None, hook)
        by_gloo = DistributedDataParallel(modules[1], process_group=gloo)
        steps = [torch.optim.SGD(each.parameters(), lr=0.1) for each in modules]
        for inputs, targets in batches(size)[:2]:
            part = slice(4 * rank, 4 * rank + 4)
            (model(inputs[part]) - targets[part].cuda()).square().mean().backward()
            (by_gloo(inputs[part]) - targets[part]).square().mean().backward()
            (modules[2](inputs) - targets).square().mean().backward()
            for step in steps:
                step.step()
                step.zero_grad()
        for own, other, alone in zip(*(module.parameters() for module in modules), strict=True):
            torch.testing.assert_close(own.cpu(), other, rtol=1e-12, atol=1e-12)
            torch.testing.assert_close(own.cpu(), alone, rtol=1e-12, atol=1e-12)


def bound(rank: int, size: int, port: int) -> None:
    """With device_id NCCL connects at once; without a backend's name there are both."""
    device = torch.device("cuda", rank % 2)
    join(rank, size, port, backend=None, device_id=device)
    assert dist.get_backend() == "cpu:gloo,cuda:nccl"
    group = dist.distributed_c10d._get_default_group()
    assert len(group._get_backend(device)._communicators) == 1
    assert isinstance(group._get_backend(device), dist.ProcessGroupNCCL)
    for place in ("cpu", device):
        tensor = torch.ones(2, device=place)
        dist.all_reduce(tensor)
        assert tensor.tolist() == [size, size]
    dist.destroy_process_group()


def recorded(rank: int, size: int) -> None:
    """Calls within a CUDA graph are refused; what was recorded before and what is called after works."""
    graph, tensor = torch.cuda.CUDAGraph(), torch.ones(3, device="cuda")
    total = torch.ones(3, device="cuda")
    dist.all_reduce(total)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.graph(graph, stream=stream):
        tensor.mul_(2)
        for call in (
            lambda: dist.all_reduce(total),
            lambda: dist.broadcast(total, 0, async_op=True),
            lambda: dist.all_gather_into_tensor(torch.empty(3 * size, device="cuda"), total),
            dist.barrier,
        ):
            distributed_workers.refused(call, "cannot be recorded into a CUDA graph")
    graph.replay()
    dist.all_reduce(tensor)
    assert tensor.tolist() == [2.0 * size] * 3
    assert total.tolist() == [size] * 3


# ---------------------------------------------------------------------- what goes wrong


def failing(rank: int, what: str, size: int, port: int, reports: Any, environment: dict[str, str]) -> None:
    """One member of a group in which something goes wrong: what it says, and after how long."""
    os.environ.update(environment)
    join(rank, size, port)
    dist.all_reduce(torch.ones(2, device="cuda"))
    torch.cuda.synchronize()
    dist.distributed_c10d._get_default_group().set_timeout(datetime.timedelta(seconds=4))
    start = time.monotonic()
    said = "nothing"
    try:
        globals()[what](rank)
        torch.cuda.synchronize()
        dist.barrier()
    except RuntimeError as error:
        said = str(error)
    reports.put((rank, said, time.monotonic() - start))
    if rank == 0:
        time.sleep(2)  # it serves the store
    reports.close()
    reports.join_thread()
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    os._exit(0)  # a device that stands still is nothing to tidy up


def killed(rank: int) -> None:
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(1000, device="cuda"))


def absent(rank: int) -> None:
    if rank == 2:
        time.sleep(8)
    else:
        dist.all_reduce(torch.ones(1000, device="cuda"))


def other_shape(rank: int) -> None:
    dist.all_reduce(torch.ones(1000 if rank else 2000, device="cuda"))


def other_type(rank: int) -> None:
    dist.all_reduce(torch.ones(1000, dtype=torch.float64 if rank else torch.float32, device="cuda"))


def other_call(rank: int) -> None:
    if rank:
        dist.broadcast(torch.ones(1000, device="cuda"), 0)
    else:
        dist.all_reduce(torch.ones(1000, device="cuda"))


def half(rank: int) -> None:
    """A group of which half calls; who is not in it goes on."""
    group = dist.new_group([0, 2], timeout=datetime.timedelta(seconds=4))
    if rank != 1:
        dist.all_reduce(torch.ones(1, device="cuda"), group=group)
        torch.cuda.synchronize()
    if rank == 0:
        dist.all_reduce(torch.ones(1000, device="cuda"), group=group)
        torch.cuda.synchronize()  # until the group's thread has ended the call
        dist.all_reduce(torch.ones(1, device="cuda"), group=group)
    else:
        time.sleep(8)


def blocking(rank: int) -> None:
    if rank == 2:
        time.sleep(8)
    else:
        dist.all_reduce(torch.ones(1000, device="cuda"), async_op=True).wait()


def lost(rank: int) -> None:
    """A device that fails while a call is on its way: it cannot be asked about anything any more."""
    dist.all_reduce(torch.ones(1000, device="cuda"), async_op=True).wait()
    if rank == 0:

        def refuse(event: torch.cuda.Event) -> bool:
            raise RuntimeError("an illegal memory access was encountered")

        torch.cuda.Event.query = refuse  # type: ignore[method-assign]
    while True:  # until the group's thread has found it, or is told by rank 0
        work = dist.all_reduce(torch.ones(1000, device="cuda"), async_op=True)
        work.wait()
        time.sleep(0.05)


def unmet(rank: int) -> None:
    """A group's first call, which one of its members does not make."""
    group = dist.new_group()
    if rank == 2:
        time.sleep(8)
    else:
        dist.all_reduce(torch.ones(1, device="cuda"), group=group)
