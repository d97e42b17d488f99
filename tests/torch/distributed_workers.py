"""What the tests of torch.distributed run in several processes: a module, because those have to import it.

Training in several processes is in distributed_training.py.
"""

from __future__ import annotations

import contextlib
import datetime
import gc
import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = [
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bool),
]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def join(rank: int, size: int, port: int, seconds: float = 30) -> None:
    """Become a member of the group of all."""
    dist.init_process_group(
        "gloo", f"tcp://127.0.0.1:{port}", datetime.timedelta(seconds=seconds), world_size=size, rank=rank
    )


def run(rank: int, task: Callable[..., None], size: int, port: int, *arguments: Any) -> None:
    """One member: join, do what is asked for, leave."""
    join(rank, size, port)
    task(rank, size, *arguments)
    dist.destroy_process_group()
    assert not dist.is_initialized()


def member(rank: int) -> torch.Tensor:
    """What a member has: every element and every member another small number."""
    return torch.arange(6).view(2, 3) + 10 * rank + 1


def equal(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def refused(call: Any, text: str, only: bool = True) -> None:
    """RuntimeError with the text, or (not `only`) whatever."""
    if only:
        import pytest

        with pytest.raises(RuntimeError, match=text):
            call()
        return
    with contextlib.suppress(RuntimeError):
        call()


def collectives(rank: int, size: int) -> None:
    """Every collective, against its definition, which each member computes alone."""
    everybody = torch.stack([member(other) for other in range(size)])
    for asynchronous in (False, True):
        for name, expected in reductions(everybody):
            for root in (None, size - 1):
                tensor = member(rank)
                if root is None:
                    done(dist.all_reduce(tensor, getattr(ReduceOp, name), async_op=asynchronous))
                else:
                    done(dist.reduce(tensor, root, getattr(ReduceOp, name), async_op=asynchronous))
                equal(tensor, expected if root in (None, rank) else member(rank))
        for root in range(size):
            tensor = member(rank)
            done(dist.broadcast(tensor, root, async_op=asynchronous))
            equal(tensor, everybody[root])
            received = torch.zeros_like(everybody[0])
            sent = list((everybody + 100).unbind()) if rank == root else None
            done(dist.scatter(received, sent, root, async_op=asynchronous))
            equal(received, everybody[rank] + 100)
            places = [torch.zeros(2, 3, dtype=torch.int64) for _ in range(size)] if rank == root else None
            done(dist.gather(member(rank), places, root, async_op=asynchronous))
            assert places is None or all(torch.equal(place, row) for place, row in zip(places, everybody, strict=True))
        places = [torch.zeros(3, 2, dtype=torch.int64).t() for _ in range(size)]  # any strides
        done(dist.all_gather(places, member(rank).t().contiguous().t(), async_op=asynchronous))
        equal(torch.stack(places), everybody)
        flat = torch.zeros(2 * size, 3, dtype=torch.int64)
        done(dist.all_gather_into_tensor(flat, member(rank), async_op=asynchronous))
        equal(flat, everybody.view(-1, 3))
        apart = torch.zeros(3, 2 * size, dtype=torch.int64).t()
        done(dist.all_gather_into_tensor(apart, member(rank), async_op=asynchronous))
        equal(apart, everybody.view(-1, 3))
        # Member j's row for member i is 100 j + i.
        rows = torch.arange(size).view(size, 1).repeat(1, 2) + 100 * rank
        part = torch.zeros(2, dtype=torch.int64)
        done(dist.reduce_scatter_tensor(part, rows.view(-1), async_op=asynchronous))
        equal(part, torch.full((2,), sum(100 * other + rank for other in range(size))))
        done(dist.reduce_scatter(part, list(rows.unbind()), ReduceOp.MAX, async_op=asynchronous))
        equal(part, torch.full((2,), 100 * (size - 1) + rank))
        received = torch.zeros_like(rows)
        done(dist.all_to_all_single(received, rows, async_op=asynchronous))
        equal(received, torch.arange(size).view(size, 1).repeat(1, 2) * 100 + rank)
        # Member i sends j + 1 rows to member j.
        sizes = [other + 1 for other in range(size)]
        source = torch.full((sum(sizes), 2), rank)
        target = torch.zeros((rank + 1) * size, 2, dtype=torch.int64)
        done(dist.all_to_all_single(target, source, [rank + 1] * size, sizes, async_op=asynchronous))
        equal(target, torch.arange(size).repeat_interleave(rank + 1).view(-1, 1).repeat(1, 2))
        outputs = [torch.zeros(other + rank) for other in range(size)]
        done(
            dist.all_to_all(
                outputs, [torch.full((other + rank,), float(rank)) for other in range(size)], async_op=asynchronous
            )
        )
        assert all(bool((output == other).all()) for other, output in enumerate(outputs))
        pair = [torch.ones(2), torch.full((2, 2), float(rank))]
        done(dist.all_reduce_coalesced(pair, async_op=asynchronous))
        equal(pair, [torch.full((2,), float(size)), torch.full((2, 2), float(sum(range(size))))])
        done(dist.barrier(async_op=asynchronous))
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20))


def done(work: Any) -> None:
    if work is not None:
        assert work.wait()
        assert work.is_completed()
        assert work.is_success()


def reductions(everybody: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    yield "SUM", everybody.sum(0)
    yield "PRODUCT", everybody.prod(0)
    yield "MIN", everybody.amin(0)
    yield "MAX", everybody.amax(0)
    for name, function in (("BAND", torch.bitwise_and), ("BOR", torch.bitwise_or), ("BXOR", torch.bitwise_xor)):
        total = everybody[0]
        for other in everybody[1:]:
            total = function(total, other)
        yield name, total


def forks(rank: int, size: int) -> None:
    """What a member forks leaves the group alone: loaders' workers, and a process that drops its copy of the group."""
    loader = torch.utils.data.DataLoader(list(range(8)), batch_size=2, num_workers=2, multiprocessing_context="fork")
    assert [int(batch.sum()) for batch in loader] == [1, 5, 9, 13]
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        dist.destroy_process_group()
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    assert int(tensor) == size


def types(rank: int, size: int) -> None:
    """All types, sizes around gloo's segments, empty tensors; what a type cannot do is said before anybody waits."""
    for dtype in DTYPES:
        tensor = torch.tensor([rank + 1, 0, 2]).to(dtype)
        dist.all_reduce(tensor)
        equal(tensor, torch.tensor([size * (size + 1) // 2, 0, 2 * size]).to(dtype))
        places = [torch.zeros(3, dtype=dtype) for _ in range(size)]
        dist.all_gather(places, tensor)
        assert all(torch.equal(place, tensor) for place in places)
    for count in (0, 1, size - 1, size + 1, 300_001):
        tensor = torch.arange(count, dtype=torch.float64) + rank
        dist.all_reduce(tensor, ReduceOp.AVG)
        equal(tensor, torch.arange(count, dtype=torch.float64) + (size - 1) / 2)
        dist.broadcast(tensor, 0)
    for bad in (
        lambda: dist.all_reduce(torch.ones(2, dtype=torch.complex64), ReduceOp.MAX),
        lambda: dist.all_reduce(torch.ones(2), ReduceOp.BAND),
        lambda: dist.all_reduce(torch.ones(2, dtype=torch.int64), ReduceOp.AVG),
        lambda: dist.all_reduce(torch.ones(2), ReduceOp.PREMUL_SUM),
    ):
        try:
            bad()
        except RuntimeError:
            pass
        else:
            raise AssertionError("accepted")
    dist.barrier()


def messages(rank: int, size: int) -> None:
    """To the next, from the one before, with tags out of order, from anybody, and objects."""
    following, before = (rank + 1) % size, (rank - 1) % size
    works = [dist.isend(torch.full((3,), 10.0 * rank + tag), following, tag=tag) for tag in (1, 2)]
    for tag in (2, 1):
        received = torch.zeros(3)
        assert dist.recv(received, before, tag=tag) == before
        equal(received, torch.full((3,), 10.0 * before + tag))
    for work in works:
        done(work)
    if rank == 0:
        senders = set()
        for _ in range(size - 1):
            number = torch.zeros(1, dtype=torch.int64)
            sender = dist.recv(number)
            assert int(number) == sender
            senders.add(sender)
        assert senders == set(range(1, size))
    else:
        dist.send(torch.tensor([rank]), 0)
    received = torch.zeros(1)
    coming, going = dist.irecv(received, before), dist.isend(torch.ones(1), following)
    end = time.monotonic() + 30
    while not (coming.is_completed() and going.is_completed()):
        assert time.monotonic() < end
    equal(received, torch.ones(1))
    received = torch.zeros(2)
    operations = [
        dist.P2POp(dist.isend, torch.full((2,), float(rank)), following),
        dist.P2POp(dist.irecv, received, before),
    ]
    for work in dist.batch_isend_irecv(operations):
        done(work)
    equal(received, torch.full((2,), float(before)))

    everybody: list[Any] = [None] * size
    dist.all_gather_object(everybody, {"rank": rank, "more": "x" * rank * 1000})
    assert everybody == [{"rank": other, "more": "x" * other * 1000} for other in range(size)]
    words = [1, "two", None] if rank == 0 else [None] * 3
    dist.broadcast_object_list(words, 0)
    assert words == [1, "two", None]
    own = [None]
    dist.scatter_object_list(own, [f"for {other}" for other in range(size)] if rank == 0 else None, 0)
    assert own == [f"for {rank}"]
    gathered: list[Any] | None = [None] * size if rank == size - 1 else None
    dist.gather_object(rank, gathered, size - 1)
    assert gathered in (None, list(range(size)))
    if rank == 0:
        dist.send_object_list([{"a": 1}, [2]], 1)
    if rank == 1:
        objects: list[Any] = [None, None]
        assert dist.recv_object_list(objects, 0) == 0
        assert objects == [{"a": 1}, [2]]
    dist.barrier()


def groups(rank: int, size: int) -> None:
    """Groups of some: ranks in them and out of them, the same ranks twice, none of one's own."""
    even = dist.new_group(list(range(0, size, 2)))
    odd = dist.new_group(list(range(1, size, 2)))
    own = odd if rank % 2 else even
    assert dist.get_rank(own) == rank // 2
    assert dist.get_process_group_ranks(own) == list(range(rank % 2, size, 2))
    assert dist.get_rank(even if rank % 2 else odd) == -1
    total = torch.tensor([rank])
    dist.all_reduce(total, group=own)
    assert int(total) == sum(range(rank % 2, size, 2))
    root = torch.tensor([rank])
    dist.broadcast(root, rank % 2, group=own)
    assert int(root) == rank % 2
    last = torch.tensor([rank])
    dist.broadcast(last, group=own, group_src=dist.get_world_size(own) - 1)
    assert int(last) == max(range(rank % 2, size, 2))
    again = dist.new_group(list(range(0, size, 2)))
    if rank % 2 == 0:
        dist.barrier(again)
    mine, every = dist.new_subgroups(size // 2)
    assert len(every) == 2
    assert dist.get_process_group_ranks(mine)[0] == rank // (size // 2) * (size // 2)
    dist.destroy_process_group(own)
    dist.barrier()


# ---------------------------------------------------------------------- what goes wrong


def failing(rank: int, what: str, size: int, port: int, reports: Any) -> None:
    """One member of a group in which something goes wrong: what it says, and after how long."""
    if what.startswith("detail"):
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    join(rank, size, port, seconds=3)
    dist.all_reduce(torch.ones(2))
    start = time.monotonic()
    try:
        globals()[what](rank)
        said = "nothing"
    except RuntimeError as error:
        said = str(error)
    reports.put((rank, said, time.monotonic() - start))
    if rank == 0:
        time.sleep(2)  # it serves the store


def killed(rank: int) -> None:
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(1000))


def absent(rank: int) -> None:
    if rank == 2:
        time.sleep(6)
    else:
        dist.all_reduce(torch.ones(1000))


def other_shape(rank: int) -> None:
    dist.all_reduce(torch.ones(1000 if rank else 2000))


detail_shape = other_shape


def detail_operation(rank: int) -> None:
    if rank == 1:
        dist.barrier()
    else:
        dist.all_reduce(torch.ones(2))


def detail_type(rank: int) -> None:
    dist.all_reduce(torch.ones(2, dtype=torch.float64 if rank == 1 else torch.float32))


def detail_reduction(rank: int) -> None:
    dist.all_reduce(torch.ones(2), dist.ReduceOp.MAX if rank == 1 else dist.ReduceOp.SUM)


def detail_root(rank: int) -> None:
    dist.broadcast(torch.ones(2), 1 if rank == 1 else 0)


def detail_some(rank: int) -> None:
    if rank != 2:
        dist.all_reduce(torch.ones(2))


def uneven(rank: int) -> None:
    rows = [1, 1, 1] if rank else [2, 1, 0]
    dist.all_to_all_single(torch.zeros(3), torch.ones(3), rows, [1, 1, 1])


def unmatched(rank: int) -> None:
    if rank == 0:
        dist.recv(torch.zeros(3), 1)
    elif rank == 1:
        dist.send(torch.zeros(30), 0)
    else:
        time.sleep(5)


def late_for_barrier(rank: int) -> None:
    if rank == 1:
        time.sleep(2)
    else:
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=1))


# ---------------------------------------------------------------------- training
