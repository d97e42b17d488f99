"""torch.distributed on MPI, as shipped: a package of its own, which is built where it is asked for."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from .conftest import CHECKOUT, ShipTorch, Slipway

if TYPE_CHECKING:
    from pathlib import Path


def test_members_of_mpirun(ship_torch: ShipTorch, slipway: Slipway, tmp_path: Path) -> None:
    with ship_torch("--variants", "{mpi: mpich}", "--no-install") as dist:
        wanted = ("pytorch", "libtorch-distributed", "libtorch-distributed-mpi", "numpy", "pytest")
        answer = slipway("install", *wanted, "--prefix", tmp_path / "env", "--dist", dist)
        assert answer.returncode == 0, answer.stderr
    tests = CHECKOUT / "tests/torch"
    command = [str(tmp_path / "env/bin/python"), "-P", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [*command, "--rootdir", str(tests), "-c", "/dev/null", str(tests / "test_distributed_mpi.py")],
        env={"PYTHONPATH": str(tests), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "skipped" not in answer.stdout
