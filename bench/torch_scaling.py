"""How training scales past one machine: a model from what is measured here, beside a measurement of two processes.

    ./slipway bench torch_scaling [--markdown FILE]

Measured: forward, backward and optimizer step of three networks, on one processor; `all_reduce` between two processes
over the loopback, from which a message's latency and the bytes per second that a process can move follow. Computed: a
step on N machines of one process each, where DistributedDataParallel sums buckets of gradients while backward goes on.
"""

from __future__ import annotations

import argparse
import itertools
import math
import socket
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BUCKET_BYTES = 25 << 20
SMALL_BYTES = 1 << 19  # of all members together: up to there one member sums (torch/lib/libtorch_distributed/gloo.cpp)
NETWORKS = {
    "1 Gb/s": (0.117e9, 100e-6),
    "10 Gb/s": (1.17e9, 50e-6),
    "25 Gb/s": (2.9e9, 30e-6),
    "100 Gb/s": (11.7e9, 20e-6),
}
MACHINES = (2, 4, 8, 16, 64)


def dense(torch: Any) -> tuple[Any, Any]:
    """Many parameters for what there is to compute."""
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(1024, 1024), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers), torch.randn(64, 1024)


def convolutions(torch: Any) -> tuple[Any, Any]:
    """Few parameters for what there is to compute."""
    widths = (3, 32, 64, 64)
    layers = [
        layer
        for before, after in itertools.pairwise(widths)
        for layer in (torch.nn.Conv2d(before, after, 3, padding=1), torch.nn.BatchNorm2d(after), torch.nn.ReLU())
    ]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1)), torch.randn(8, 3, 32, 32)


def transformer(torch: Any) -> tuple[Any, Any]:
    """What lies between."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
    return torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.randn(4, 64, 256)


WORKLOADS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "dense": dense,
    "convolutions": convolutions,
    "transformer": transformer,
}


@dataclass
class Step:
    """Seconds of a training step's parts in one process, and the bytes of its gradients."""

    forward: float
    backward: float
    update: float
    gradients: int

    @property
    def total(self) -> float:
        return self.forward + self.backward + self.update


@dataclass
class Link:
    """What lies between machines: bytes per second, and seconds until a message is there."""

    bandwidth: float
    latency: float

    def all_reduce(self, size: float, machines: int) -> float:
        """Seconds of a sum: by one member if it is small, else in a ring."""
        if size * machines <= SMALL_BYTES:
            return (1 + math.ceil(math.log2(machines))) * self.latency + (machines + 1) * size / self.bandwidth
        return 2 * (machines - 1) * (size / machines / self.bandwidth + self.latency)


def step_on(step: Step, link: Link, machines: int) -> float:
    """Seconds of a step: a bucket is summed when its share of backward is done, and after the one before it."""
    buckets = max(1, math.ceil(step.gradients / BUCKET_BYTES))
    each = link.all_reduce(step.gradients / buckets, machines)
    end = 0.0
    for bucket in range(buckets):
        end = max(end, step.backward * (bucket + 1) / buckets) + each
    return step.forward + end + step.update


def best(parts: Callable[[], list[float]], rounds: int = 10) -> list[float]:
    """The least of each part."""
    return [min(column) for column in zip(*(parts() for _ in range(rounds)), strict=True)]


def measure_step(torch: Any, name: str) -> Step:
    """One process, one thread."""
    torch.manual_seed(0)
    module, inputs = WORKLOADS[name](torch)
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-4, momentum=0.9)

    def parts() -> list[float]:
        times = [time.perf_counter()]
        loss = module(inputs).square().mean()
        times.append(time.perf_counter())
        loss.backward()
        times.append(time.perf_counter())
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter())
        return [after - before for before, after in itertools.pairwise(times)]

    parts()
    size = sum(parameter.numel() * parameter.element_size() for parameter in module.parameters())
    forward, backward, update = best(parts)
    return Step(forward, backward, update, size)


def pair(rank: int, port: int, results: Any) -> None:
    """One of two processes: the loopback's latency and bandwidth, and a step of each network under DDP."""
    torch, dist = import_module("torch"), import_module("torch.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)

    def timed(elements: int, calls: int) -> float:
        tensor = torch.zeros(elements)

        def call() -> list[float]:
            dist.barrier()
            begin = time.perf_counter()
            for _ in range(calls):
                dist.all_reduce(tensor)
            return [(time.perf_counter() - begin) / calls]

        return best(call, 8)[0]

    large = 1 << 23
    links, steps = [(timed(1, 20), timed(large, 2))], {}
    for name, make in WORKLOADS.items():
        module, inputs = make(torch)
        model = torch.nn.parallel.DistributedDataParallel(module)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)

        def step(model: Any = model, inputs: Any = inputs, optimizer: Any = optimizer) -> list[float]:
            dist.barrier()
            begin = time.perf_counter()
            model(inputs).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            return [time.perf_counter() - begin]

        step()
        steps[name] = best(step)[0]
        links.append((timed(1, 20), timed(large, 2)))  # between all others: something else may have been at work
    small, whole = (min(column) for column in zip(*links, strict=True))
    if rank == 0:
        results.put((Link(4 * large / whole, small / 2), steps))  # each sends and gets all bytes once
    dist.destroy_process_group()


def limit(step: Step, link: Link, machines: int) -> str:
    """What would have to be better."""
    alone, latency = Link(math.inf, link.latency), Link(link.bandwidth, 0.0)
    now = step_on(step, link, machines)
    if now < 1.1 * step.total:
        return "-"
    return "latency" if step_on(step, alone, machines) > step_on(step, latency, machines) else "bandwidth"


def report() -> list[str]:
    """The lines of the report, in Markdown."""
    torch, mp = import_module("torch"), import_module("torch.multiprocessing")  # whichever this Python has
    torch.set_num_threads(1)
    steps = {name: measure_step(torch, name) for name in WORKLOADS}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(pair, (port, results), 2)
    here, together = results.get()
    lines = [
        f"Loopback, two processes: {here.latency * 1e6:.0f} us a message, {here.bandwidth / 1e9:.2f} GB/s by gloo.",
        "",
        "| network | gradients, MB | forward, ms | backward, ms | update, ms | two processes, ms | as computed, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, step in steps.items():
        cells = [step.gradients / 1e6, *(1e3 * part for part in (step.forward, step.backward, step.update))]
        cells += [1e3 * together[name], 1e3 * step_on(step, here, 2)]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    heads = " | ".join(f"{machines}" for machines in MACHINES)
    lines += ["", f"| network, link | {heads} | what limits {MACHINES[-1]} |", "|---|" + "---|" * (len(MACHINES) + 1)]
    for name, step in steps.items():
        for label, (bandwidth, latency) in NETWORKS.items():
            link = Link(min(bandwidth, here.bandwidth), latency)
            shares = " | ".join(f"{step.total / step_on(step, link, machines):.0%}" for machines in MACHINES)
            why = limit(step, link, MACHINES[-1])
            if why == "bandwidth" and here.bandwidth < bandwidth:
                why = "gloo's copies"
            lines.append(f"| {name}, {label} | {shares} | {why} |")
    return lines


def main() -> None:
    """Prints the report, or writes it between the marks of a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="put it into this file, in place of the last one")
    options = parser.parse_args()
    text = "\n".join(report())
    if options.markdown is None:
        sys.stdout.write(text + "\n")
        return
    begin, end = "<!-- measured -->\n", "<!-- end -->"
    before, _, rest = options.markdown.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    options.markdown.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
