"""torchrun: programs of several processes, started again when one fails, on one or several launchers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from distributed_workers import free_port

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "distributed.py"

needs_gloo = pytest.mark.skipif(not dist.is_gloo_available(), reason="libtorch_distributed is not installed")

PROGRAM = """
import os, signal, sys, pathlib, torch, torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

@record
def main(folder, what):
    dist.init_process_group("gloo")
    rank, saved = dist.get_rank(), pathlib.Path(folder) / "saved.pt"
    state = torch.load(saved) if saved.exists() else {"step": 0, "total": torch.zeros(1)}
    first = state["step"]
    while state["step"] < 6:
        part = torch.tensor([float(rank + 1)])
        dist.all_reduce(part)
        state = {"step": state["step"] + 1, "total": state["total"] + part}
        if rank == 0:
            torch.save(state, saved)
        dist.barrier()
        if what == "killed" and state["step"] == 3 and rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "raises" and rank == 1:
            raise ValueError("boom")
    (pathlib.Path(folder) / f"done{rank}").write_text(f"{first} {int(state['total'])} {os.environ['LOCAL_RANK']}")
    dist.destroy_process_group()

main(*sys.argv[1:])
"""


def torchrun(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-P", "-m", "torch.distributed.run", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90, check=False)


@needs_gloo
def test_torchrun_starts_again_from_a_checkpoint(tmp_path: Path) -> None:
    answer = torchrun(tmp_path, "--standalone", "--nproc_per_node=3", "--max-restarts=2", "program.py", ".", "killed")
    assert answer.returncode == 0, answer.stderr
    assert "rank 1 has failed (by SIGKILL); all start again (1 of 2)" in answer.stderr
    for rank in range(3):
        assert (tmp_path / f"done{rank}").read_text() == f"3 36 {rank}"


@needs_gloo
def test_torchrun_says_who_has_failed(tmp_path: Path) -> None:
    answer = torchrun(tmp_path, "--standalone", "--nproc-per-node", "2", "program.py", ".", "raises")
    assert answer.returncode == 1
    assert "torchrun: raises has failed" not in answer.stderr
    assert "torchrun: program.py has failed" in answer.stderr
    assert "rank 1, local rank 1" in answer.stderr
    assert "ValueError: boom" in answer.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--nproc-per-node", "many", "x.py"], "Unsupported nproc_per_node value: many"),
        (["--nnodes", "1:4", "x.py"], "--nnodes 1:4 takes --rdzv-backend c10d"),
        (["--nnodes", "3:2", "x.py"], "nnodes=3:2 is not in MIN:MAX format"),
        (["--rdzv-backend", "c10d", "--rdzv-endpoint", "here:there", "x.py"], "'there' is no port"),
        (["--rdzv-conf", "speed=3", "x.py"], "--rdzv-conf speed=3: KEY=SECONDS is expected"),
        (["--node-rank", "3", "x.py"], "not in the range 0 to 0"),
        (["--no-python", "--standalone", "/no/such/program"], "cannot be started"),
    ],
)
def test_torchrun_refuses(options: list[str], text: str, tmp_path: Path) -> None:
    answer = torchrun(tmp_path, *options)
    assert answer.returncode == 2
    assert text in answer.stderr


@needs_gloo
def test_the_example_trains_as_pytorch_does_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """examples/distributed.py, as docs/distributed.md says to begin; the numbers are PyTorch 2.13's."""
    command = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(EXAMPLE), str(tmp_path / "checkpoint.pt")]
    for number in ("first", "second"):  # then there is nothing left to do
        answer = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout == "2 processes, loss 0.0016\n", number
        saved = torch.load(tmp_path / "checkpoint.pt")
        assert saved["epoch"] == 4
        weight = torch.tensor([[0.9866, 0.9925, 0.9639, 0.9858]])
        torch.testing.assert_close(saved["model"]["module.weight"], weight, rtol=0, atol=6e-5)


@needs_gloo
def test_torchrun_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(
        "import os, time; open(f'pid{os.environ[\"RANK\"]}', 'w').write(str(os.getpid())); time.sleep(600)"
    )
    command = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "sleeper.py"]
    launcher = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    end = time.monotonic() + 30
    while len(list(tmp_path.glob("pid*"))) < 2 or not all(path.read_text() for path in tmp_path.glob("pid*")):
        assert time.monotonic() < end
        time.sleep(0.05)
    launcher.terminate()
    launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + 15
    for path in tmp_path.glob("pid*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)


# ---------------------------------------------------------------------- several launchers, which stand for machines

STEPS = """
import os, pathlib, sys, time, torch, torch.distributed as dist
folder, machine = pathlib.Path(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo")
rank, saved = dist.get_rank(), folder / "saved.pt"
step = torch.load(saved)["step"] if saved.exists() else 0
name = f"{machine}-{os.environ['LOCAL_RANK']}-{os.environ['TORCHELASTIC_ROUND']}"
(folder / name).write_text(f"{step} of {dist.get_world_size()}, {os.environ['TORCHELASTIC_RESTART_COUNT']} failures")
while True:  # rank 0 says to all when it is enough: each for itself would see it in another step
    dist.all_reduce(torch.ones(1))
    step += 1
    if rank == 0:
        torch.save({"step": step}, folder / "new.pt")
        (folder / "new.pt").replace(saved)
    time.sleep(0.02)
    go = [(folder / "enough").exists()]
    dist.broadcast_object_list(go)
    if go[0] and step >= 3:
        break
dist.destroy_process_group()
"""


class Machines:
    """Launchers that meet at one port; all are ended with the test."""

    def __init__(self, folder: Path, nodes: str, *options: str) -> None:
        self.folder, self.launchers = folder, {}  # type: ignore[var-annotated]
        (folder / "steps.py").write_text(STEPS)
        self.options = ["--nnodes", nodes, "--nproc-per-node", "2", *options]
        self.port = free_port()

    def start(self, name: str, *options: str) -> None:
        program = [str(self.folder / "steps.py"), str(self.folder), name]
        command = [sys.executable, "-P", "-m", "torch.distributed.run", *self.options, *options, *program]
        self.launchers[name] = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)

    def started(self, *names: str) -> list[str]:
        """What these processes ("machine-local rank-round") have written when they began."""
        end = time.monotonic() + 60
        while not all((self.folder / name).exists() and (self.folder / name).read_text() for name in names):
            assert time.monotonic() < end, sorted(path.name for path in self.folder.iterdir())
            time.sleep(0.05)
        return [(self.folder / name).read_text() for name in names]

    def finish(self, *names: str) -> list[str]:
        """Lets the programs end; what these launchers have said."""
        (self.folder / "enough").touch()
        said = [self.launchers[name].communicate(timeout=60)[1] for name in names]
        assert [self.launchers[name].returncode for name in names] == [0] * len(names), said
        return said

    def end(self) -> None:
        for launcher in self.launchers.values():
            launcher.kill()
            launcher.communicate(timeout=60)


@pytest.fixture
def elastic(tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(tmp_path, "1:2", "--rdzv-backend", "c10d", "--max-restarts", "1")
    machines.options += ["--rdzv-conf", "last_call_timeout=0.5,keep_alive=20"]
    machines.options += ["--rdzv-endpoint", f"127.0.0.1:{machines.port}"]
    yield machines
    machines.end()


@needs_gloo
def test_machines_come_and_go(elastic: Machines) -> None:
    elastic.start("first")
    assert elastic.started("first-0-0") == ["0 of 2, 0 failures"]
    elastic.start("second")
    said = elastic.started("first-1-1", "second-0-1")
    assert all("of 4, 0 failures" in text for text in said)
    elastic.launchers["second"].terminate()
    (alone,) = elastic.started("first-1-2")
    assert "of 2, 0 failures" in alone
    assert int(alone.split()[0]) >= int(said[0].split()[0])
    (text,) = elastic.finish("first")
    assert "another machine has come; all start again" in text
    assert elastic.launchers["second"].wait(60) == 128 + signal.SIGTERM


@needs_gloo
def test_a_machine_that_dies_costs_a_restart_at_most(elastic: Machines) -> None:
    elastic.start("first")
    elastic.started("first-0-0")
    elastic.start("second")
    elastic.started("first-0-1", "second-0-1")
    elastic.launchers["second"].kill()
    assert "of 2" in elastic.started("first-0-2")[0]
    (text,) = elastic.finish("first")
    assert re.search(r"has failed.*all start again \(1 of 1\)|not heard of any more; all start again", text)


@needs_gloo
def test_machines_with_numbers(tmp_path: Path) -> None:
    machines = Machines(tmp_path, "2", "--master-port", str(free_port()))
    try:
        machines.start("second", "--node-rank", "1")
        machines.start("first", "--node-rank", "0")
        assert machines.started("first-0-0", "second-1-0") == ["0 of 4, 0 failures"] * 2
        machines.finish("first", "second")
    finally:
        machines.end()


def test_too_few_machines_are_told(tmp_path: Path) -> None:
    options = ["--nnodes", "2:3", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    answer = torchrun(tmp_path, *options, "--rdzv-conf", "join_timeout=1", "program.py", ".", "well")
    assert answer.returncode == 1
    assert "torchrun: 1 of at least 2 machines have come within 1 seconds" in answer.stderr
