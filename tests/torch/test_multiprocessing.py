"""torch.multiprocessing: tensors in shared memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spawned

import torch
import torch.multiprocessing as mp

# In a process of its own, so that what forks has one thread of Python; a child that hangs is ended by its alarm.
FORK_AFTER_COMPUTING = """
import os, signal, torch
torch.set_num_threads(4)
numbers, square = torch.ones(1_000_000), torch.ones(300, 300)
def compute():
    return numbers.exp().sum().item(), (square @ square).sum().item()
expected = compute()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if compute() == expected and torch.get_num_threads() == 4 else 1)
assert compute() == expected
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_with_threads_of_its_own() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_AFTER_COMPUTING]
    assert subprocess.run(command, check=False).returncode == 0


TRAIN_IN_CHILDREN = """
import os, signal, sys, threading, torch
torch.set_num_threads(2)
def train():
    torch.manual_seed(1)
    layers = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 32 * 32, 10)
    model, images = torch.nn.Sequential(*layers), torch.randn(16, 3, 32, 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), torch.arange(16) % 10)
        loss.backward()
        optimizer.step()
    return loss.item()
expected = train()
def train_in_child():
    train()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if train() == expected and torch.get_num_threads() == 2 else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
codes = []
train_in_child()
thread = threading.Thread(target=train_in_child)
thread.start()
thread.join()
assert codes == [0, 0], codes
assert train() == expected
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_trains_whichever_thread_forked_it() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", TRAIN_IN_CHILDREN]
    assert subprocess.run(command, check=False).returncode == 0


THREADS_OF_LAPACK = """
import os, threading, torch
torch.set_num_threads(1)
def factorize():
    torch.linalg.lu_factor(torch.eye(1000) + 1)
    assert len(os.listdir("/proc/self/task")) == 2
threads = [threading.Thread(target=factorize)]
threads[0].start()
threads[0].join()
assert not threads[0].is_alive()
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted by /proc")
@pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="this BLAS has threads of its own")
def test_lapack_in_another_thread_takes_as_many_threads_as_were_allowed() -> None:
    completed = subprocess.run([sys.executable, "-c", THREADS_OF_LAPACK], capture_output=True, text=True, check=False)
    assert completed.stderr == ""


@pytest.mark.parametrize("given", [{}, {"GOMP_SPINCOUNT": "77"}, {"OMP_WAIT_POLICY": "passive"}])
def test_idle_threads_leave_their_processors_to_others(given: dict[str, str]) -> None:
    """Soon, that is: libgomp tells how often it looks for work before it sleeps; where pauses are short, as ever."""
    is_intels = "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    program = "import os, torch; print(os.environ.get('GOMP_SPINCOUNT'))"
    completed = subprocess.run(
        [sys.executable, "-c", program],
        env=kept | given | {"OMP_DISPLAY_ENV": "verbose"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed.stdout.strip() == given.get("GOMP_SPINCOUNT", "None")
    expected = "0" if "OMP_WAIT_POLICY" in given else given.get("GOMP_SPINCOUNT", "5000" if is_intels else "300000")
    assert f"GOMP_SPINCOUNT = '{expected}'" in completed.stderr


def _answer(process: Any, queue: Any) -> torch.Tensor:
    """What `process` sends; a process that ends without sending is an error instead of waiting for ever."""
    while queue.empty():
        process.join(0.02)
        assert process.exitcode is None, f"the process ended with exit code {process.exitcode} before it answered"
    answer: torch.Tensor = queue.get()
    return answer


def test_both_sides_see_the_same_memory() -> None:
    context = mp.get_context("spawn")
    to_child, from_child = context.SimpleQueue(), context.SimpleQueue()
    process = context.Process(target=spawned.double, args=(to_child, from_child))
    process.start()
    tensor = torch.arange(6.0).reshape(2, 3)
    to_child.put(tensor)
    answer = _answer(process, from_child)
    assert answer.tolist() == [[6, 8, 10]]
    assert tensor.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert tensor.is_shared()
    answer.zero_()
    assert tensor[1].tolist() == [0, 0, 0]
    to_child.put(None)
    process.join(30)
    assert process.exitcode == 0


def test_share_memory_moves_all_views() -> None:
    tensor = torch.arange(4.0)
    view = tensor[2:]
    assert not tensor.is_shared()
    assert tensor.share_memory_() is tensor
    assert view.is_shared()
    view.zero_()
    assert tensor.tolist() == [0, 1, 0, 0]
    model = torch.nn.Linear(2, 2).share_memory()
    assert all(parameter.is_shared() for parameter in model.parameters())


def test_what_cannot_be_sent() -> None:
    with pytest.raises(RuntimeError, match=r"send tensor\.detach"):
        mp._reduce(torch.ones(1, requires_grad=True) * 2)
    with pytest.raises(NotImplementedError, match=r"send tensor\.cpu"):
        mp._reduce(torch.ones(1, device="meta"))
    before = mp.get_sharing_strategy()
    for strategy in mp.get_all_sharing_strategies():
        mp.set_sharing_strategy(strategy)
        assert mp.get_sharing_strategy() == strategy
    mp.set_sharing_strategy(before)
    with pytest.raises(AssertionError, match="unknown sharing strategy 'pigeon'"):
        mp.set_sharing_strategy("pigeon")


def test_spawn() -> None:
    total = torch.zeros(3).share_memory_()
    mp.spawn(spawned.add_one, (total,), nprocs=3)
    assert total.tolist() == [1, 1, 1]
    with pytest.raises(mp.ProcessRaisedException, match=r"Process 5 terminated(.|\n)*ValueError: five"):
        mp.spawn(spawned.add_one, (torch.zeros(9),), nprocs=6)
    context = mp.spawn(spawned.add_one, args=(torch.zeros(2).share_memory_(),), nprocs=2, join=False)
    assert len(context.pids()) == 2
    while not context.join(timeout=60):
        pass
