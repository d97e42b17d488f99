"""What the tests of torch.distributed run in several processes: a module, because those have to import it."""

from __future__ import annotations

import contextlib
import copy
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
    from collections.abc import Iterator

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


def run(rank: int, name: str, size: int, port: int, *arguments: Any) -> None:
    """One member: join, do what is asked for, leave."""
    join(rank, size, port)
    globals()[name](rank, size, *arguments)
    dist.destroy_process_group()
    assert not dist.is_initialized()


def member(rank: int) -> torch.Tensor:
    """What a member has: every element and every member another small number."""
    return torch.arange(6).view(2, 3) + 10 * rank + 1


def equal(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)


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


def network(dropping: bool = False) -> torch.nn.Module:
    """The same in every process."""
    torch.manual_seed(3)
    layers = [torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 4)]
    return Branching() if dropping else torch.nn.Sequential(*layers).double()


class Branching(torch.nn.Module):
    """Uses one of two layers, and never the third."""

    def __init__(self) -> None:
        super().__init__()
        self.even, self.odd, self.never = (torch.nn.Linear(3, 2) for _ in range(3))

    def forward(self, inputs: torch.Tensor, which: int) -> torch.Tensor:
        return (self.odd if which % 2 else self.even)(inputs)


def batches(size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    shape = {"generator": generator, "dtype": torch.float64}
    return [(torch.randn(4 * size, 8, **shape), torch.randn(4 * size, 4, **shape)) for _ in range(4)]


def training(rank: int, size: int) -> None:
    """DistributedDataParallel's parameters are those of one process with all data, whatever the options."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
    from torch.nn.parallel import DistributedDataParallel

    for options in (
        {},
        {"gradient_as_bucket_view": True},
        {"bucket_cap_mb": 0.0001},
        {"find_unused_parameters": True},
        {"hook": allreduce_hook},
    ):
        hook = options.pop("hook", None)
        module = network()
        module[1] = torch.nn.Identity()  # what a batch norm computes depends on how a batch is split
        alone = network()
        alone[1] = torch.nn.Identity()
        if rank:
            module[0].weight.data.zero_()  # rank 0's are everybody's
        model = DistributedDataParallel(module, **options)
        if hook:
            model.register_comm_hook(None, hook)
        steps = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (model, alone)]
        for number, (inputs, targets) in enumerate(batches(size)):
            part = slice(4 * rank, 4 * rank + 4)
            if number == 1:
                with model.no_sync():
                    (model(inputs[part]) - targets[part]).square().mean().backward()
                (alone(inputs) - targets).square().mean().backward()
            (model(inputs[part]) - targets[part]).square().mean().backward()
            (alone(inputs) - targets).square().mean().backward()
            for step in steps:
                step.step()
                step.zero_grad()
        for own, expected in zip(module.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(own, expected, rtol=1e-12, atol=1e-12)


def buffers_and_unused(rank: int, size: int) -> None:
    """Buffers are rank 0's, parameters may be unused on some ranks or on all, and different models are refused."""
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(network())
    for inputs, _ in batches(size):
        model(inputs[4 * rank : 4 * rank + 4]).sum().backward()
    model(inputs[:4])
    means = [None] * size
    mean = model.module[1].running_mean.tolist()
    dist.all_gather_object(means, mean)
    assert means == [mean] * size

    branching = network(dropping=True)
    model = DistributedDataParallel(branching, find_unused_parameters=True)
    for _ in range(2):
        model(torch.full((1, 3), rank + 1.0), rank).sum().backward()
    evens = sum(other + 1.0 for other in range(0, size, 2)) / size
    assert branching.never.weight.grad is None
    torch.testing.assert_close(branching.even.weight.grad[0, 0].item(), evens * 2)

    strict = DistributedDataParallel(network(dropping=True))
    strict(torch.ones(1, 3), 0).sum().backward()
    refused(lambda: strict(torch.ones(1, 3), 0), r"(?s)Expected to have finished reduction.*never\.weight")
    refused(
        lambda: DistributedDataParallel(torch.nn.Linear(2, 2 + (rank == size - 1))),
        "expects same model",
        only=rank == size - 1,
    )


def refused(call: Any, text: str, only: bool = True) -> None:
    """RuntimeError with the text, or (not `only`) whatever."""
    if only:
        import pytest

        with pytest.raises(RuntimeError, match=text):
            call()
        return
    with contextlib.suppress(RuntimeError):
        call()


def uneven_data(rank: int, size: int) -> None:
    """Processes with more data go on with those that have none left; all end with the same parameters."""
    from torch.nn.parallel import DistributedDataParallel

    for by_all in (True, False):
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
        start = model.module.weight.detach().clone()
        with model.join(divide_by_initial_world_size=by_all):
            for _ in range(rank + 1):
                model(torch.ones(1, 2)).sum().backward()
                with torch.no_grad():
                    model.module.weight -= model.module.weight.grad
                model.module.weight.grad = None
        # In iteration i, size - i processes have a gradient of one.
        total = sum((size - number) / (size if by_all else size - number) for number in range(size))
        torch.testing.assert_close(model.module.weight.detach(), start - total)


def synchronized_norms(rank: int, size: int) -> None:
    """SyncBatchNorm in several processes, batches of other sizes among them, against BatchNorm of all in one."""
    for momentum in (0.1, None):
        torch.manual_seed(0)
        whole = torch.nn.BatchNorm2d(3, momentum=momentum, dtype=torch.float64)
        torch.nn.init.uniform_(whole.weight)
        shared = torch.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole))
        for _ in range(2):
            every = [torch.randn(2 + other, 3, 4, 5, dtype=torch.float64) * (1 + other) for other in range(size)]
            x, own = torch.cat(every).requires_grad_(), every[rank].clone().requires_grad_()
            sizes = [len(part) for part in every]
            expected, answer = whole(x).split(sizes)[rank], shared(own)
            torch.testing.assert_close(answer, expected)
            for module in (whole, shared):
                module.zero_grad()
            (whole(x) ** 3).sum().backward()
            (shared(own) ** 3).sum().backward()
            torch.testing.assert_close(own.grad, x.grad.split(sizes)[rank])
            dist.all_reduce(shared.weight.grad)
            dist.all_reduce(shared.bias.grad)
        torch.testing.assert_close(dict(shared.named_buffers()), dict(whole.named_buffers()))
        torch.testing.assert_close([p.grad for p in shared.parameters()], [p.grad for p in whole.parameters()])
        half = shared.half()
        assert half(every[rank].half()).dtype == torch.float16
        shared.eval()
        torch.testing.assert_close(shared(every[0].half()), half(every[0].half()))


def gradients_of_collectives(rank: int, size: int) -> None:
    """torch.distributed.nn.functional, against what its definition says."""
    from torch.distributed.nn import functional

    def leaf() -> torch.Tensor:
        return torch.full((2,), float(rank + 1), requires_grad=True)

    weight = float(rank + 1)
    weights = size * (size + 1) / 2
    x = leaf()
    (functional.all_reduce(x) * weight).sum().backward()
    equal(x.grad, torch.full((2,), weights))
    x = leaf()
    gathered = functional.all_gather(x)
    sum((part * (other + 1)).sum() for other, part in enumerate(gathered)).backward()
    equal(x.grad, torch.full((2,), size * weight))
    x = leaf()
    (functional.broadcast(x, 0) * weight).sum().backward()
    equal(x.grad, torch.full((2,), weights if rank == 0 else 0.0))
    x = leaf()
    parts = functional.all_to_all([torch.empty(2) for _ in range(size)], [x * (other + 1) for other in range(size)])
    sum(part.sum() for part in parts).backward()
    equal(x.grad, torch.full((2,), weights))
    x = leaf()
    functional.reduce_scatter(torch.empty(2), [x * (other + 1) for other in range(size)]).sum().backward()
    equal(x.grad, torch.full((2,), weights))


def meshes(rank: int, size: int) -> None:
    """Groups along the dimensions of a mesh; a sampler that takes its part from the group."""
    assert list(torch.utils.data.DistributedSampler(range(2 * size), shuffle=False)) == [rank, rank + size]
    mesh = dist.init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("replicate", "shard"))
    assert mesh.shape == (2, size // 2)
    assert mesh.get_coordinate() == [rank // (size // 2), rank % (size // 2)]
    total = torch.tensor([rank])
    dist.all_reduce(total, group=mesh.get_group("replicate"))
    assert int(total) == 2 * (rank % (size // 2)) + size // 2
    assert mesh["shard"].mesh.tolist() == [rank // (size // 2) * (size // 2) + other for other in range(size // 2)]
    assert mesh["shard"].get_local_rank() == mesh.get_local_rank("shard") == rank % (size // 2)
    refused(lambda: dist.init_device_mesh("cpu", (size + 1,)), "takes")


def shared_state(rank: int, size: int, folder: str) -> None:
    """ZeroRedundancyOptimizer steps as its optimizer does alone; checkpoints come back in other processes' hands."""
    from torch.distributed import checkpoint
    from torch.distributed.optim import ZeroRedundancyOptimizer

    module, alone = network(), network()
    optimizer = ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.01)
    expected = torch.optim.Adam(alone.parameters(), lr=0.01)
    assert len(optimizer.optim.state_dict()["param_groups"][0]["params"]) < len(list(alone.parameters()))
    for inputs, _ in batches(size):
        for each, step in ((module, optimizer), (alone, expected)):
            step.zero_grad()
            each(inputs).square().sum().backward()
            step.step()
    equal(list(module.state_dict().values()), list(alone.state_dict().values()))
    refused(optimizer.state_dict, "has not been consolidated")
    optimizer.consolidate_state_dict(to=1)
    if rank == 1:
        whole, right = optimizer.state_dict(), expected.state_dict()
        assert whole["state"].keys() == right["state"].keys()
        for number, state in right["state"].items():
            equal(whole["state"][number]["exp_avg"], state["exp_avg"])
    again = ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.5)
    again.load_state_dict(expected.state_dict())
    assert again.param_groups[0]["lr"] == 0.01

    state = {"model": module.state_dict(), "step": 7, f"own{rank}": torch.full((2,), float(rank))}
    checkpoint.save(state, checkpoint_id=folder)
    fresh = network()
    for parameter in fresh.parameters():
        parameter.data.zero_()
    other = (rank + 1) % size
    wanted = {"model": fresh, "step": 0, f"own{other}": torch.zeros(2)}
    checkpoint.load(wanted, checkpoint_id=folder)
    equal(list(fresh.state_dict().values()), list(module.state_dict().values()))
    assert wanted["step"] == 7
    equal(wanted[f"own{other}"], torch.full((2,), float(other)))
    refused(lambda: checkpoint.load({"absent": torch.zeros(1)}, checkpoint_id=folder), "Missing key.*absent")
    refused(lambda: checkpoint.load({"own0": torch.zeros(3)}, checkpoint_id=folder), "Size mismatch.*own0")
    refused(lambda: checkpoint.load({}, checkpoint_id=f"{folder}/none"), "is no checkpoint")


# ---------------------------------------------------------------------- what PyTorch itself answers, and is asked again


def seeded_training(rank: int, size: int) -> dict[str, Any]:
    """Losses of all steps and the parameters and buffers at the end, for the seeds that stand here."""
    from torch.nn.parallel import DistributedDataParallel

    results = {}
    for name, options, optimizer in (
        ("sgd", {}, lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True)),
        ("adamw", {"bucket_cap_mb": 0.001, "gradient_as_bucket_view": True}, torch.optim.AdamW),
        ("unused", {"find_unused_parameters": True, "static_graph": False}, torch.optim.Adagrad),
    ):
        torch.manual_seed(3 + rank)  # rank 0's parameters become everybody's
        layers = [torch.nn.Conv2d(1, 2, 3, bias=False), torch.nn.BatchNorm2d(2), torch.nn.GELU(), torch.nn.Flatten()]
        module = torch.nn.Sequential(*layers, torch.nn.Dropout(0.25), torch.nn.Linear(32, 3)).double()
        model = DistributedDataParallel(module, **options)
        steps = optimizer(model.parameters())
        losses = []
        for _ in range(4):
            inputs, targets = torch.randn(5, 1, 6, 6, dtype=torch.float64), torch.randint(3, (5,))
            steps.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            steps.step()
            dist.all_reduce(loss.detach())
            losses.append(loss.item())
        results[name] = {"losses": losses, "state": {key: value.tolist() for key, value in module.state_dict().items()}}
    return results


def golden_training(rank: int, size: int, path: str) -> None:
    """The same as PyTorch's DistributedDataParallel."""
    import json
    from pathlib import Path

    expected = json.loads(Path(path).read_text(encoding="utf-8"))
    everybody: list[Any] = [None] * size
    dist.all_gather_object(everybody, seeded_training(rank, size))
    for actual, right in zip(everybody, expected["training"], strict=True):
        for name, answers in right.items():
            for key, values in answers.items():
                torch.testing.assert_close(actual[name][key], values, rtol=1e-10, atol=1e-10)


def checkpoint_state(rank: int, fill: bool) -> dict[str, Any]:
    """What the golden checkpoint holds, or (not `fill`) zeros in its place."""

    def made(shape: tuple[int, ...], start: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        values = torch.arange(start, start + torch.Size(shape).numel()).reshape(shape).to(dtype)
        return values if fill else torch.zeros_like(values)

    return {
        "model": {"weight": made((2, 3), 1), "bias": made((2,), 7, torch.float64)},
        "list": [made((2,), 9), "three" if fill else "", {"inner": made((), 11, torch.bfloat16)}],
        "flags": [True, None, 2.5] if fill else None,
        f"own{rank}": made((2,), 20 + rank),
    }


def read_checkpoint(rank: int, size: int, folder: str, *more: str) -> None:
    """What another torch has written, with what the other process had; `more` names tensors in blocks."""
    from torch.distributed import checkpoint

    other = (rank + 1) % size
    wanted = checkpoint_state(other, fill=False) | {name: torch.zeros(5, 2) for name in more}
    checkpoint.load(wanted, checkpoint_id=folder)
    right = checkpoint_state(other, fill=True) | {name: torch.arange(10.0).reshape(5, 2) for name in more}
    equal(wanted["model"], right["model"])
    equal(wanted[f"own{other}"], right[f"own{other}"])
    assert wanted["flags"] == right["flags"]
    assert wanted["list"][1] == "three"
    equal([wanted["list"][0], wanted["list"][2]], [right["list"][0], right["list"][2]])
    for name in more:
        equal(wanted[name], right[name])


def write_checkpoint(rank: int, size: int, folder: str) -> None:
    """For another torch to read."""
    from torch.distributed import checkpoint

    checkpoint.save(checkpoint_state(rank, fill=True), checkpoint_id=folder)
