"""Times torch.distributed on this machine, beside another torch's gloo: time to start, latency and bandwidth.

    ./slipway bench torch_distributed [--peer PYTHON] [--processes 2 4 8] [--rounds 5]

PYTHON is an interpreter that imports the other torch. Each measurement starts processes of its own, one torch after the
other in every round, and medians count, of calls and of rounds: other programs run, too. `start` is from the call of
the interpreters until all are members and have met in a barrier, imports included; `all_reduce` is one call, of 4
bytes, 64 KiB and 16 MiB of float32.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time

# What each process does; process 0 prints seconds: when it has started (since the epoch), and a call of each size.
MEMBER = """
import statistics, sys, time
import torch, torch.distributed as dist
rank, size, port = map(int, sys.argv[1:])
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
dist.barrier()
started = time.time()
def median(tensor, rounds, calls):
    times = []
    for _ in range(rounds):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(calls):
            dist.all_reduce(tensor)
        times.append((time.perf_counter() - begin) / calls)
    return statistics.median(times)
sizes = (1, 10, 50), (1 << 14, 10, 10), (1 << 22, 5, 2)
calls = [median(torch.zeros(elements), rounds, calls) for elements, rounds, calls in sizes]
if rank == 0:
    print(started, *calls)
dist.barrier()
dist.destroy_process_group()
"""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def measure(python: str, processes: int) -> list[float]:
    """Seconds: until all have started, and for a call of each size."""
    port = str(free_port())
    ours = python == sys.executable
    environment = {key: value for key, value in os.environ.items() if ours or not key.startswith("PYTHON")}
    begin = time.time()
    members = [
        subprocess.Popen(
            [python, "-P", "-W", "ignore", "-c", MEMBER, str(rank), str(processes), port],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        for rank in range(processes)
    ]
    answers = [member.communicate(timeout=300)[0] for member in members]
    if any(member.returncode for member in members):
        raise SystemExit(f"processes of {python} ended with {[member.returncode for member in members]}")
    started, *calls = map(float, answers[0].split())
    return [started - begin, *calls]


def main() -> None:
    """Prints a row for each number of processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer", "--reference", metavar="PYTHON", help="an interpreter with another torch")
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    pythons = [sys.executable, *([options.peer] if options.peer else [])]
    titles = ["start, s", "4 bytes, us", "64 KiB, us", "16 MiB, ms", "16 MiB, GB/s"]
    print(f"{'processes':>9}  {'torch':<6}" + "".join(f"{title:>14}" for title in titles))
    for processes in options.processes:
        rounds: list[list[list[float]]] = [[] for _ in pythons]
        for _ in range(options.rounds):
            for number, python in enumerate(pythons):
                rounds[number].append(measure(python, processes))
        for name, found in zip(("ours", "peer"), rounds, strict=False):
            start, small, medium, large = (statistics.median(column) for column in zip(*found, strict=True))
            # What each process sends, by the least that a sum takes.
            sent = 2 * (processes - 1) / processes * (1 << 24) / large / 1e9
            print(
                f"{processes:>9}  {name:<6}{start:>14.2f}{small * 1e6:>14.0f}{medium * 1e6:>14.0f}"
                f"{large * 1e3:>14.1f}{sent:>14.2f}"
            )


if __name__ == "__main__":
    main()
