"""What the tests of torch.distributed train, and save, in several processes; distributed_workers.py starts them."""

from __future__ import annotations

import copy
from typing import Any

from distributed_workers import equal, refused

import torch
import torch.distributed as dist


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
