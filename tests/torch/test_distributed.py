"""torch.distributed: several processes on this machine."""

from __future__ import annotations

import datetime
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import distributed_workers as workers
import pytest

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed import checkpoint
from torch.distributed._tcp_store import GREETING, LENGTH

GOLDEN = Path(__file__).parent / "golden"
needs_gloo = pytest.mark.skipif(not dist.is_available(), reason="libtorch_distributed is not installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


# ---------------------------------------------------------------------- without an engine


def test_torch_alone_does_not_load_it() -> None:
    code = "import sys, torch; assert not any(name.startswith('torch.distributed') for name in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=60)


def test_what_is_not_there_is_said_by_name() -> None:
    with pytest.raises(RuntimeError, match="NCCL"):
        dist.init_process_group("nccl", "tcp://127.0.0.1:1", rank=0, world_size=1)
    with pytest.raises(ValueError, match="Unknown backend type fog"):
        dist.init_process_group("fog", "tcp://127.0.0.1:1", rank=0, world_size=1)
    from torch.distributed.fsdp import FullyShardedDataParallel

    for name, function in (
        ("init_rpc", lambda: dist.rpc.init_rpc("worker")),
        ("FullyShardedDataParallel", lambda: FullyShardedDataParallel(torch.nn.Linear(1, 1))),
    ):
        with pytest.raises(RuntimeError, match=f"{name}.*not supported"):
            function()
    for name in ("gloo", "nccl", "mpi"):
        assert dist.is_backend_available(name) == (name == "gloo" and dist.is_available())


def test_calls_before_joining_are_refused() -> None:
    for call in (lambda: dist.all_reduce(torch.ones(1)), dist.get_rank, dist.barrier, lambda: dist.new_group([0])):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()


# ---------------------------------------------------------------------- stores


@pytest.fixture(params=["HashStore", "TCPStore", "FileStore", "PrefixStore"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "TCPStore":
        return dist.TCPStore("127.0.0.1", 0, is_master=True)
    if request.param == "FileStore":
        return dist.FileStore(str(tmp_path / "store"), 1)
    return dist.HashStore() if request.param == "HashStore" else dist.PrefixStore("inner", dist.HashStore())


def test_stores_answer_alike(store: Any) -> None:
    store.set("a", "1")
    assert store.get("a") == b"1"
    assert [store.add("n", 3), store.add("n", -1)] == [3, 2]
    assert store.get("n") == b"2"
    assert (store.check(["a"]), store.check(["a", "b"])) == (True, False)
    assert (store.delete_key("a"), store.delete_key("a")) == (True, False)
    assert store.compare_set("c", "", "x") == b"x"
    assert store.compare_set("c", "wrong", "y") == b"x"
    assert store.compare_set("c", "x", "y") == b"y"
    assert store.compare_set("none", "expected", "new") == b"expected"
    store.append("c", b"\0\xff")
    store.multi_set(["p", "q"], ["1", b""])
    assert store.multi_get(["p", "q", "c"]) == [b"1", b"", b"y\0\xff"]
    assert sorted(store.list_keys()) == ["c", "n", "p", "q"]
    assert store.num_keys() == 4
    with pytest.raises(TypeError, match="str and bytes"):
        store.set("a", 1)


def test_stores_wait(store: Any) -> None:
    threading.Timer(0.1, lambda: store.set("late", "v")).start()
    assert store.get("late") == b"v"
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 50ms, keys: .*never"):
        store.wait(["late", "never"], datetime.timedelta(milliseconds=50))
    store.set_timeout(datetime.timedelta(milliseconds=50))
    with pytest.raises(dist.DistStoreError, match="never"):
        store.get("never")
    assert store.get("late") == b"v"


def test_file_stores_meet_and_clean_up(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    first, second = dist.FileStore(str(path), 2), dist.FileStore(str(path), 2)
    first.set("a", "1")
    assert second.get("a") == b"1"
    assert [second.add("n", 1), first.add("n", 1)] == [1, 2]
    del first
    assert path.exists()
    del second
    assert not path.exists()


HOSTILE = {
    "another protocol": b"GET / HTTP/1.0\r\n\r\n",
    "half a greeting": GREETING[:5],
    "rubbish after it": GREETING + bytes(range(255, 0, -1)),
    "an unknown command": GREETING + LENGTH.pack(12) + LENGTH.pack(4) + b"exec",
    "no parts": GREETING + LENGTH.pack(0),
    "a part longer than its message": GREETING + LENGTH.pack(12) + LENGTH.pack(1 << 40) + b"set!",
    "a set without a value": GREETING + LENGTH.pack(22) + LENGTH.pack(3) + b"set" + LENGTH.pack(3) + b"key",
    "an add of no number": GREETING
    + LENGTH.pack(30)
    + b"".join(LENGTH.pack(len(part)) + part for part in (b"add", b"b", b"??"))[:30],
    "half a message": GREETING + LENGTH.pack(1 << 20) + b"x" * 100,
    "a length beyond all memory": GREETING + LENGTH.pack(1 << 63),
    "nothing": b"",
}


def test_the_server_survives_hostile_clients() -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    store.set("a", "1")
    held = []
    for rubbish in HOSTILE.values():
        for vanishing in (True, False):
            client = socket.create_connection(("127.0.0.1", store.port))
            client.sendall(rubbish)
            if vanishing:
                client.close()
            else:
                held.append(client)
        assert store.get("a") == b"1"
    waiting = dist.TCPStore("127.0.0.1", store.port)
    with pytest.raises(dist.DistStoreError):
        waiting.wait(["b"], datetime.timedelta(milliseconds=20))
    store.set("b", "2")  # the server knows that nobody waits any more
    assert waiting.get("b") == b"2"
    for client in held:
        client.close()


def test_many_large_values() -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    value = os.urandom(1 << 20)
    for number in range(200):
        store.set(str(number), value)
    assert all(store.get(str(number)) == value for number in range(0, 200, 50))
    assert store.multi_get([str(number) for number in range(100)]) == [value] * 100
    assert store.num_keys() == 200


def test_addresses_that_cannot_be() -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with pytest.raises(dist.DistNetworkError, match=rf"port: {store.port}.*Address already in use"):
        dist.TCPStore("127.0.0.1", store.port, is_master=True)
    short = datetime.timedelta(milliseconds=300)
    with pytest.raises(
        dist.DistNetworkError, match=r"timed out after 300ms while trying to connect to \(127.0.0.1, 1\)"
    ):
        dist.TCPStore("127.0.0.1", 1, timeout=short)
    with pytest.raises(dist.DistStoreError, match="1/2 clients joined"):
        dist.TCPStore("127.0.0.1", 0, 2, is_master=True, timeout=short)
    with pytest.raises(dist.DistNetworkError, match="is none"):
        dist.TCPStore("no such host.invalid", 1, timeout=short)


def test_a_store_that_is_gone_is_said() -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    client = dist.TCPStore("127.0.0.1", store.port, timeout=datetime.timedelta(milliseconds=300))
    del store
    with pytest.raises(dist.DistNetworkError, match="gone"):
        client.get("a")


@needs_gloo
def test_wrong_ways_to_join(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for method, rank, size, error in (
        (None, -1, -1, "environment variable RANK expected, but not set"),
        ("tcp://127.0.0.1", 0, 1, "port number missing"),
        ("tcp://127.0.0.1:99999", 0, 1, "Port out of range"),
        ("tcp://127.0.0.1:1", -1, 1, "rank parameter missing"),
        ("file://", 0, 1, "path missing"),
        (f"file://{tmp_path}/f", 3, 2, "rank 3 is not in the range 0 to 1"),
    ):
        with pytest.raises(ValueError, match=error):
            dist.init_process_group("gloo", method, rank=rank, world_size=size)
    with pytest.raises(RuntimeError, match="No rendezvous handler for pigeon://"):
        dist.init_process_group("gloo", "pigeon://here", rank=0, world_size=1)
    assert not dist.is_initialized()


# ---------------------------------------------------------------------- groups


def together(name: str, size: int) -> None:
    mp.spawn(workers.run, (name, size, free_port()), size)


@needs_gloo
@pytest.mark.parametrize("size", [2, 4, 8])
def test_collectives(size: int) -> None:
    together("collectives", size)


@needs_gloo
@pytest.mark.parametrize("name", ["types", "messages", "groups", "forks"])
def test_four_members(name: str) -> None:
    together(name, 4)


@needs_gloo
def test_one_member_by_every_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    port = free_port()
    for key, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}.items():
        monkeypatch.setenv(key, str(value))
    for arguments in (
        {},
        {"init_method": f"file://{tmp_path}/file", "rank": 0, "world_size": 1},
        {"store": dist.HashStore(), "rank": 0, "world_size": 1},
    ):
        dist.init_process_group("gloo", **arguments)
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("gloo")
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        assert tensor.tolist() == [1, 1, 1]
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
        dist.destroy_process_group()


@needs_gloo
def test_arguments_are_checked_here() -> None:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        for call, error, text in (
            (lambda: dist.all_reduce(3), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
            (lambda: dist.broadcast(torch.ones(1), 5), ValueError, "Global rank 5 is not part of group"),
            (lambda: dist.all_gather([], torch.ones(3)), RuntimeError, "expected length 1, got 0"),
            (lambda: dist.all_gather([torch.ones(4)], torch.ones(3)), RuntimeError, r"expected \(3,\), got \(4,\)"),
            (lambda: dist.all_gather([torch.ones(3).int()], torch.ones(3)), ValueError, "different dtypes"),
            (lambda: dist.send(torch.ones(3), 0), ValueError, "should not be the same as the rank of the current"),
            (lambda: dist.new_group([0, 7]), ValueError, "Rank 7 is out of range"),
            (lambda: dist.gather(torch.ones(3), None, 0), ValueError, "``gather_list`` must be specified"),
            (lambda: dist.all_reduce(torch.ones(2, device="meta")), ValueError, "tensors of the CPU"),
            (lambda: dist.all_reduce(torch.ones(2).to_sparse()), ValueError, "dense"),
        ):
            with pytest.raises(error, match=text):
                call()
    finally:
        dist.destroy_process_group()


# ---------------------------------------------------------------------- what goes wrong


def told(what: str, size: int = 3) -> dict[int, tuple[str, float]]:
    """What each member says of a failure, and after how many seconds; none is left running."""
    reports = mp.get_context("spawn").Queue()
    context = mp.start_processes(workers.failing, (what, size, free_port(), reports), size, join=False)
    end = time.monotonic() + 60
    for process in context.processes:
        process.join(max(0, end - time.monotonic()))
        assert process.exitcode is not None, f"{what}: a member hangs"
    said = {}
    while not reports.empty():
        rank, text, seconds = reports.get()
        said[rank] = text, seconds
    return said


@needs_gloo
def test_a_member_that_is_killed_is_named() -> None:
    said = told("killed")
    assert set(said) == {0, 1}
    for text, seconds in said.values():
        assert "ank 2" in text
        assert seconds < 6


@needs_gloo
def test_a_member_that_does_not_come_is_named() -> None:
    said = told("absent")
    for rank in (0, 1):
        assert "Rank 2 did not come to this call" in said[rank][0]
        assert said[rank][1] < 6


@needs_gloo
def test_calls_that_differ_end_and_are_told() -> None:
    said = told("other_shape")
    assert "TensorShape=[2000]" in said[1][0] + said[2][0]
    assert "TensorShape=[1000]" in said[0][0]


@needs_gloo
@pytest.mark.parametrize(
    ("what", "theirs"), [("detail_shape", r"TensorShape=\[2000\]"), ("detail_operation", "BARRIER")]
)
def test_members_compare_what_they_call(what: str, theirs: str) -> None:
    import re

    said = told(what)
    assert all(text.startswith("Detected mismatch between collectives on ranks.") for text, _ in said.values())
    assert all(re.search(theirs, text) for text, _ in said.values())
    assert all(seconds < 2 for _, seconds in said.values())


@needs_gloo
def test_sizes_that_do_not_fit_are_told() -> None:
    said = told("uneven")
    assert "sends 1 elements to rank 0, which expects 2" in said[0][0]
    assert all("ALLTOALL" in text for text, _ in said.values())


@needs_gloo
def test_a_monitored_barrier_names_who_is_late() -> None:
    said = told("late_for_barrier")
    for rank in (0, 2):
        assert f"[Rank {rank}]: Rank 1 failed to pass monitoredBarrier in 1000 ms" in said[rank][0]


JOINING = """
import datetime, sys, torch.distributed as dist
rank, size, port = map(int, sys.argv[1:])
try:
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", datetime.timedelta(seconds=2), size, rank)
except (RuntimeError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


@needs_gloo
@pytest.mark.parametrize(
    ("members", "texts"),
    [
        ([(0, 3), (1, 3)], ["rank 2 of 3 did not join within 2 seconds"]),
        ([(0, 2), (0, 2)], ["Address already in use", "rank 1 of 2 did not join"]),
        ([(0, 2), (1, 3)], ["with world_size"]),
        ([(0, 3), (1, 3), (1, 3)], ["rank 1 has joined already"]),
        ([(1, 2)], ["timed out after 2000ms while trying to connect"]),
    ],
)
def test_who_does_not_fit_in_is_told(members: list[tuple[int, int]], texts: list[str]) -> None:
    port = free_port()
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", JOINING, *map(str, (*member, port))], stderr=subprocess.PIPE, text=True
        )
        for member in members
    ]
    said = "".join(process.communicate(timeout=60)[1] for process in processes)
    for text in texts:
        assert text in said
    assert "Traceback" not in said


# ---------------------------------------------------------------------- training


@needs_gloo
@pytest.mark.parametrize("name", ["training", "buffers_and_unused", "uneven_data", "gradients_of_collectives"])
def test_training(name: str) -> None:
    together(name, 3)


@needs_gloo
def test_training_equals_pytorchs() -> None:
    """tests/torch/golden/make_distributed.py has asked PyTorch's DistributedDataParallel."""
    mp.spawn(workers.run, ("golden_training", 2, free_port(), str(GOLDEN / "distributed.json")), 2)


@needs_gloo
def test_meshes() -> None:
    together("meshes", 4)


@needs_gloo
def test_ddp_says_what_it_cannot_take() -> None:
    from torch.nn.parallel import DistributedDataParallel

    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedDataParallel(torch.nn.Linear(1, 1))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with pytest.raises(RuntimeError, match="not needed when a module doesn't have any parameters"):
            DistributedDataParallel(torch.nn.ReLU())
        with pytest.raises(ValueError, match="device_ids"):
            DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=[0])
    finally:
        dist.destroy_process_group()


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
        (["--nnodes", "1:4", "x.py"], "a fixed number of machines"),
        (["--node-rank", "3", "x.py"], "not in the range 0 to 0"),
        (["--no-python", "--standalone", "/no/such/program"], "cannot be started"),
    ],
)
def test_torchrun_refuses(options: list[str], text: str, tmp_path: Path) -> None:
    answer = torchrun(tmp_path, *options)
    assert answer.returncode == 2
    assert text in answer.stderr


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


@needs_gloo
def test_shared_state(tmp_path: Path) -> None:
    mp.spawn(workers.run, ("shared_state", 3, free_port(), str(tmp_path / "checkpoint")), 3)


# ---------------------------------------------------------------------- checkpoints


@needs_gloo
def test_checkpoints_of_pytorch_are_read() -> None:
    folder = str(GOLDEN / "distributed_checkpoint")
    mp.spawn(workers.run, ("read_checkpoint", 2, free_port(), folder, "blocks"), 2)


@needs_gloo
def test_checkpoints_are_read_by_other_processes(tmp_path: Path) -> None:
    mp.spawn(workers.run, ("write_checkpoint", 3, free_port(), str(tmp_path)), 3)
    mp.spawn(workers.run, ("read_checkpoint", 2, free_port(), str(tmp_path)), 2)


def test_checkpoints_become_files_and_back(tmp_path: Path) -> None:
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp

    dcp_to_torch_save(GOLDEN / "distributed_checkpoint", tmp_path / "whole.pt")
    whole = torch.load(tmp_path / "whole.pt")
    assert torch.equal(whole["blocks"], torch.arange(10.0).reshape(5, 2))
    assert whole["list"][1:] == ["three", {"inner": torch.tensor(11, dtype=torch.bfloat16)}]
    assert whole["flags"] == [True, None, 2.5]
    torch_save_to_dcp(tmp_path / "whole.pt", tmp_path / "again")
    state = {"model": {"bias": torch.zeros(2, dtype=torch.float64)}}
    checkpoint.load(state, checkpoint_id=tmp_path / "again")
    assert state["model"]["bias"].tolist() == [7, 8]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch evil",)


def damaged(folder: Path, what: str) -> None:
    """Changes a checkpoint for the worse."""
    path = folder / ".metadata"
    whole = checkpoint.FileSystemReader(folder).read_metadata()
    index = next(index for index in whole.storage_data if index.fqn == "own0")
    place, kind = whole.storage_data[index], whole.state_dict_metadata["own0"]
    if what == "evil":
        whole.planner_data = Evil()
    elif what == "elsewhere":
        place.relative_path = "../outside"
    elif what == "beyond":
        place.offset = 1 << 40
    elif what == "block":
        kind.chunks[0].sizes = torch.Size([1 << 40])
    elif what == "hole":
        kind.chunks.clear()
    elif what == "unplaced":
        del whole.storage_data[index]
    elif what == "compressed":
        place.transform_descriptors = ["zstd"]
    path.write_bytes(path.read_bytes()[:50] if what == "half" else pickle.dumps(whole))
    if what == "no file":
        for file in folder.glob("*.distcp"):
            file.unlink()


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("evil", "names posix.system"),
        ("half", "cannot be read"),
        ("elsewhere", "does not say where own0 lies"),
        ("beyond", "own0 cannot be read"),
        ("block", "own0 has a block that does not fit"),
        ("hole", "own0 is not whole: it has 0 of 2 elements"),
        ("unplaced", "does not say where own0 lies"),
        ("compressed", "own0 is stored by .*zstd"),
        ("no file", "own0 cannot be read from __"),
    ],
)
def test_damaged_checkpoints_are_refused(what: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint.save({"own0": torch.ones(2)}, checkpoint_id="there", no_dist=True)
    damaged(tmp_path / "there", what)
    with pytest.raises(checkpoint.CheckpointException, match=text):
        checkpoint.load({"own0": torch.ones(2)}, checkpoint_id="there", no_dist=True)
    assert not Path("evil").exists()


def test_what_checkpoints_cannot_do_is_said(tmp_path: Path) -> None:
    state = {"a": torch.ones(2)}
    for error, call in (
        ("which storage", lambda: checkpoint.save(state)),
        ("planner", lambda: checkpoint.save(state, checkpoint_id=tmp_path, planner=object())),
        ("async_save.*not supported", lambda: checkpoint.async_save(state, checkpoint_id=tmp_path)),
        ("cannot write its part", lambda: checkpoint.save({"a": lambda: 0}, checkpoint_id=tmp_path, no_dist=True)),
    ):
        with pytest.raises(RuntimeError, match=error):
            call()
    with pytest.raises(ValueError, match=r"duplicated flatten key a\.b"):
        checkpoint.save({"a": {"b": 1}, "a.b": 2}, checkpoint_id=tmp_path, no_dist=True)
    assert not (tmp_path / ".metadata").exists()
