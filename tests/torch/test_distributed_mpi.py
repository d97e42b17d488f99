"""torch.distributed on MPI: the same members as on gloo, started by mpirun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import torch.distributed as dist

# Beside the interpreter, where an environment has it, or wherever the machine does.
MPIRUN = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")
pytestmark = pytest.mark.skipif(
    not dist.is_mpi_available() or MPIRUN is None, reason="libtorch_distributed_mpi is not installed"
)
PROGRAM = """
import datetime, importlib, sys
import torch.distributed as dist
workers = importlib.import_module(sys.argv[2])
dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=float(sys.argv[1])))
assert dist.get_backend() == "mpi"
for name in sys.argv[3:]:
    getattr(workers, name)(dist.get_rank(), dist.get_world_size())
dist.destroy_process_group()
"""


def mpirun(size: int, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in so many processes; none is left running."""
    assert MPIRUN is not None
    command = [MPIRUN, "-n", str(size), sys.executable, "-P", "-c", program, *arguments]
    environment = os.environ | {"PYTHONPATH": ":".join([str(Path(__file__).parent), *sys.path])}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("size", [2, 4])
def test_all_calls(size: int) -> None:
    answer = mpirun(size, PROGRAM, "60", "distributed_workers", "collectives", "types", "messages", "groups", "forks")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("size", [2, 4])
def test_training(size: int) -> None:
    # The last of them has members that refuse what others begin.
    names = ("training", "uneven_data", "gradients_of_collectives", "meshes", "buffers_and_unused")
    answer = mpirun(size, PROGRAM, "60", "distributed_training", *names)
    assert answer.returncode == 0, answer.stderr


def test_gloo_and_mpi_in_one_program() -> None:
    if not dist.is_gloo_available():
        pytest.skip("libtorch_distributed is not installed")
    program = """
import torch, torch.distributed as dist
dist.init_process_group("mpi")
gloo, mpi = dist.new_group(backend="gloo"), dist.new_group()
for group, name in ((gloo, "gloo"), (mpi, "mpi"), (None, "mpi")):
    total = torch.ones(3)
    dist.all_reduce(total, group=group)
    assert (dist.get_backend(group), total.tolist()) == (name, [3.0] * 3)
works = [dist.all_reduce(torch.ones(1), group=group, async_op=True) for group in (gloo, mpi, None)]
dist.all_reduce(torch.ones(1))  # after those of its group, which are on their way
for work in works:
    work.wait()
openmp = {line.split()[-1] for line in open("/proc/self/maps") if "omp5.so" in line or "libgomp" in line}
assert len(openmp) == 1, openmp
"""
    answer = mpirun(3, program)
    assert answer.returncode == 0, answer.stderr


FAILING = """
import datetime, os, signal, sys, time, torch, torch.distributed as dist
dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=2))
rank, what = dist.get_rank(), sys.argv[1]
dist.all_reduce(torch.ones(2))
if what == "absent" and rank == 2:
    time.sleep(5)
elif what == "killed" and rank == 2:
    os.kill(os.getpid(), signal.SIGKILL)
elif what == "raises" and rank == 2:
    raise ValueError("boom")
elif what == "other":
    dist.barrier() if rank == 2 else dist.all_reduce(torch.ones(5))
else:
    dist.all_reduce(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("what", "text"), [("absent", "Rank 2 did not come to this call"), ("killed", ""), ("raises", "ValueError: boom")]
)
def test_who_does_not_come_ends_the_others(what: str, text: str) -> None:
    answer = mpirun(3, FAILING, what)
    assert answer.returncode != 0
    assert text in answer.stdout + answer.stderr


def test_members_compare_what_they_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    answer = mpirun(3, FAILING, "other")
    assert answer.returncode != 0
    assert "Detected mismatch between collectives on ranks." in answer.stderr
    assert "BARRIER" in answer.stderr


def test_what_mpirun_says_counts() -> None:
    program = "import torch.distributed as dist; dist.init_process_group('mpi', world_size=5, rank=0)"
    answer = mpirun(2, program)
    assert answer.returncode != 0
    assert "but mpirun says" in answer.stderr
