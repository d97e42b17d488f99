"""torch.distributed: several processes on this machine."""

from __future__ import annotations

import datetime
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import distributed_training
import distributed_workers as workers
import pytest
from distributed_workers import free_port

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed._tcp_store import GREETING, LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
needs_gloo = pytest.mark.skipif(not dist.is_gloo_available(), reason="libtorch_distributed is not installed")


# ---------------------------------------------------------------------- without an engine


def test_torch_alone_does_not_load_it() -> None:
    code = "import sys, torch; assert not any(name.startswith('torch.distributed') for name in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=60)


def test_public_names_are_looked_for_once() -> None:
    vars(dist).pop("all_reduce", None)
    assert dist.all_reduce is vars(dist)["all_reduce"]


def test_what_is_not_there_is_said_by_name() -> None:
    with pytest.raises(RuntimeError, match="NCCL"):
        dist.init_process_group("nccl", "tcp://127.0.0.1:1", rank=0, world_size=1)
    with pytest.raises(ValueError, match="Unknown backend type fog"):
        dist.init_process_group("fog", "tcp://127.0.0.1:1", rank=0, world_size=1)
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
    from torch.distributed.pipelining import pipeline
    from torch.distributed.tensor import DTensor, distribute_tensor

    for name, function in (
        ("init_rpc", lambda: dist.rpc.init_rpc("worker")),
        ("FullyShardedDataParallel", lambda: FullyShardedDataParallel(torch.nn.Linear(1, 1))),
        ("fully_shard", lambda: fully_shard(torch.nn.Linear(1, 1))),
        ("distribute_tensor", lambda: distribute_tensor(torch.ones(1))),
        ("DTensor", lambda: DTensor(torch.ones(1))),
        ("pipeline", lambda: pipeline(torch.nn.Linear(1, 1))),
    ):
        with pytest.raises(RuntimeError, match=f"{name}.*not supported"):
            function()
    for name, there in (
        ("gloo", dist.is_gloo_available()),
        ("nccl", dist.is_nccl_available()),
        ("mpi", dist.is_mpi_available()),
    ):
        assert dist.is_backend_available(name) == there


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
    store.set_timeout(datetime.timedelta(seconds=30))
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


GREEDY = """
import resource, socket, sys, threading, time
import torch.distributed as dist
from torch.distributed._tcp_store import GREETING, pack
store = dist.TCPStore("127.0.0.1", 0, is_master=True)
store.set("large", bytes(1 << 20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def rude(message, ends):
    client = socket.create_connection(("127.0.0.1", store.port))
    client.settimeout(2)
    try:
        client.sendall(GREETING)
        for _ in range(3000):
            client.sendall(message)
    except OSError:
        ends.append(client)
    else:
        raise AssertionError("all of it was taken")
ask, wait, ends = b"".join(pack([b"get", b"large"])) * 100, b"".join(pack([b"wait", b"never"])), []
threads = [threading.Thread(target=rude, args=each) for each in ((ask, ends), (wait + bytes(1 << 20), ends))]
for thread in threads:
    thread.start()
time.sleep(0.5)
begin = time.monotonic()
assert store.get("large") == bytes(1 << 20) and time.monotonic() - begin < 1
for thread in threads:
    thread.join()
assert len(ends) == 2 and store.num_keys() == 1
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 200 << 10, f"{grown} KiB"
"""


def test_greedy_clients_cost_no_memory() -> None:
    """One asks for gigabytes and takes no answer, one sends gigabytes while it waits."""
    subprocess.run([sys.executable, "-P", "-c", GREEDY], check=True, timeout=120)


def test_a_thousand_large_values() -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    value = os.urandom(1 << 20)
    for number in range(1000):
        store.set(str(number), str(number).encode() + value)
    other = dist.TCPStore("127.0.0.1", store.port)
    assert all(other.get(str(number)) == str(number).encode() + value for number in range(0, 1000, 50))
    found = other.multi_get([str(number) for number in range(200)])
    assert all(each == str(number).encode() + value for number, each in enumerate(found))
    assert store.num_keys() == 1000


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


MASTERS = {
    "silent": ([b""], "has not answered within 500ms"),
    "another protocol": ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "is no store of this torch's"),
    "slow": ([b"\x01"] * 20, "has not answered within 500ms"),
    "promises two gigabytes": ([LENGTH.pack(1 << 31)], "has not answered within 500ms"),
    "no number": ([LENGTH.pack(9) + LENGTH.pack(1) + b"z"], "is no store of this torch's"),
    "no value": ([LENGTH.pack(0)], "0 values in answer to 'add'"),
    "a part longer than its message": ([LENGTH.pack(9) + LENGTH.pack(9) + b"z"], "a part longer than its message"),
}


@pytest.mark.parametrize(("pieces", "text"), MASTERS.values(), ids=MASTERS)
def test_what_answers_as_master_is_checked(pieces: list[bytes], text: str) -> None:
    ended = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            for piece in pieces:
                if ended.wait(0.1):
                    break
                connection.sendall(piece)
            ended.wait(30)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        begin = time.monotonic()
        with pytest.raises(dist.DistNetworkError, match=text):
            dist.TCPStore("127.0.0.1", listener.getsockname()[1], 2, timeout=datetime.timedelta(milliseconds=500))
        ended.set()
        thread.join()
        assert time.monotonic() - begin < 5


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
        ("tcp://127.0.0.1:1", 3, 2, "rank 3 is not in the range 0 to 1"),  # not: nobody answers there
    ):
        with pytest.raises(ValueError, match=error):
            dist.init_process_group("gloo", method, rank=rank, world_size=size)
    with pytest.raises(RuntimeError, match="No rendezvous handler for pigeon://"):
        dist.init_process_group("gloo", "pigeon://here", rank=0, world_size=1)
    assert not dist.is_initialized()


# ---------------------------------------------------------------------- groups


def together(task: Callable[..., None], size: int) -> None:
    mp.spawn(workers.run, (task, size, free_port()), size)


@needs_gloo
@pytest.mark.parametrize("size", [2, 4, 8])
def test_collectives(size: int) -> None:
    together(workers.collectives, size)


@needs_gloo
@pytest.mark.parametrize("name", ["types", "messages", "groups", "forks"])
def test_four_members(name: str) -> None:
    together(getattr(workers, name), 4)


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
            (lambda: dist.all_reduce(torch.ones(2, device="meta")), RuntimeError, "associated with device type meta"),
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
    ("what", "theirs"),
    [
        ("detail_shape", r"TensorShape=\[2000\]"),
        ("detail_type", "dtype=float64"),
        ("detail_reduction", "reduce=max"),
        ("detail_root", "root=1"),
        ("detail_operation", "BARRIER"),
    ],
)
def test_members_compare_what_they_call(what: str, theirs: str) -> None:
    said = told(what)
    assert all(text.startswith("Detected mismatch between collectives on ranks.") for text, _ in said.values())
    assert all(re.search(theirs, text) for text, _ in said.values())
    assert all(seconds < 2 for _, seconds in said.values())


@needs_gloo
def test_who_compares_waits_no_longer_for_who_does_not_come() -> None:
    said = told("detail_some")
    for rank in (0, 1):
        assert "ank 2" in said[rank][0]
        assert said[rank][1] < 20
    assert said[2][0] == "nothing"


@needs_gloo
def test_sizes_that_do_not_fit_are_told() -> None:
    said = told("uneven")
    assert "sends 1 elements to rank 0, which expects 2" in said[0][0]
    assert all("ALLTOALL" in text for text, _ in said.values())


@needs_gloo
def test_messages_that_do_not_fit_are_told() -> None:
    said = told("unmatched")
    assert "rank 1 was in call 1, SEND(TensorShape=[30], dtype=float32, peer=0)" in said[0][0]
    assert "rank 0 was in call 1, RECV(TensorShape=[3], dtype=float32, peer=1)" in said[1][0]
    assert all("ank 2" not in said[rank][0] for rank in (0, 1))  # it has nothing to do with them


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

TRAINING = ["training", "buffers_and_unused", "uneven_data", "synchronized_norms", "gradients_of_collectives"]


@needs_gloo
@pytest.mark.parametrize("name", TRAINING)
def test_training(name: str) -> None:
    together(getattr(distributed_training, name), 3)


@needs_gloo
def test_training_equals_pytorchs() -> None:
    """tests/torch/golden/make_distributed.py has asked PyTorch's DistributedDataParallel."""
    mp.spawn(workers.run, (distributed_training.golden_training, 2, free_port(), str(GOLDEN / "distributed.json")), 2)


@needs_gloo
def test_meshes() -> None:
    together(distributed_training.meshes, 4)


@needs_gloo
def test_ddp_says_what_it_cannot_take() -> None:
    from torch.nn.parallel import DistributedDataParallel

    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedDataParallel(torch.nn.Linear(1, 1))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with pytest.raises(RuntimeError, match="not needed when a module doesn't have any parameter that requires"):
            DistributedDataParallel(torch.nn.ReLU())
        with pytest.raises(ValueError, match="device_ids"):
            DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=[0])
        with pytest.raises(RuntimeError, match="mixed_precision='half' is not supported here"):
            DistributedDataParallel(torch.nn.Linear(1, 1), mixed_precision="half")
    finally:
        dist.destroy_process_group()
