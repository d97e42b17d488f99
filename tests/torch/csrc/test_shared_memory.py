"""Memory that processes share, and that goes with the last of them, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import spawned

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not hasattr(torch._C, "_share_memory"), reason="libshm needs POSIX shared memory")
SEGMENTS = Path("/dev/shm")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(torch.__file__).parent.parent)}


def segments_of(process_id: int) -> list[Path]:
    return list(SEGMENTS.glob(f"torch_{process_id}_*"))


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_sharing_keeps_values_and_views() -> None:
    x = torch.arange(6.0)
    view = x[2:4]
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared()
    assert view.is_shared()
    view.add_(10)
    assert x.tolist() == [0, 1, 12, 13, 4, 5]
    assert len(segments_of(os.getpid())) == 1
    del x, view
    assert segments_of(os.getpid()) == []


def test_both_processes_see_what_either_writes() -> None:
    from torch import multiprocessing as shared

    context = shared.get_context("spawn")
    queue, back = context.Queue(), context.Queue()
    process = context.Process(target=spawned.increment, args=(queue, back))
    process.start()
    x = torch.nn.Parameter(torch.zeros(3))
    queue.put(x)
    assert back.get(timeout=60) == [1, 1, 1]
    process.join()
    assert x.tolist() == [1, 1, 1]
    del x
    queue.close()
    queue.join_thread()
    assert wait_until(lambda: not segments_of(os.getpid()))


def test_a_killed_process_leaves_nothing() -> None:
    program = (
        "import torch, sys; x = torch.ones(100).share_memory_(); print(x.is_shared(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        assert len(segments_of(process.pid)) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_until(lambda: not segments_of(process.pid))


def test_what_cannot_be_sent() -> None:
    from multiprocessing.reduction import ForkingPickler

    import torch.multiprocessing

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="is no leaf"):
        ForkingPickler.dumps(x * 2)
    with pytest.raises(RuntimeError, match="torch_shm_manager"):
        torch._C._receive_storage("/nowhere/manager", "/torch_1_1_1", 8)
