"""torch.distributed on NCCL: several processes, each with a device. Without GPUs they run on the emulated ones."""

from __future__ import annotations

import re
import time
from typing import Any

import nccl_workers as workers
import pytest
from distributed_workers import free_port

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason())),
    pytest.mark.skipif(not dist.is_nccl_available(), reason="libtorch_distributed_nccl is not installed"),
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one device"),
]
EMULATED = torch.cuda.is_available() and "emulated" in torch.cuda.get_device_name(0)
needs_emulation = pytest.mark.skipif(not EMULATED, reason="NCCL takes each device once")
needs_gloo = pytest.mark.skipif(not dist.is_gloo_available(), reason="libtorch_distributed is not installed")
SIZES = [2, pytest.param(4, marks=needs_emulation)]


@pytest.mark.parametrize("size", SIZES)
def test_collectives(size: int) -> None:
    mp.spawn(workers.run, ("collectives", size, free_port()), size)


@pytest.mark.parametrize("name", ["types", "streams", "recorded"])
def test_two_members(name: str) -> None:
    mp.spawn(workers.run, (name, 2, free_port()), 2)


@needs_gloo
@needs_emulation
def test_messages() -> None:
    mp.spawn(workers.run, ("messages", 4, free_port()), 4)


@needs_gloo
def test_training() -> None:
    mp.spawn(workers.run, ("training", 2, free_port()), 2)


@needs_gloo
def test_both_backends() -> None:
    mp.spawn(workers.bound, (2, free_port()), 2)


def test_versions() -> None:
    assert torch.cuda.nccl.version() >= (2, 0, 0)
    assert len(torch.cuda.nccl.unique_id()) == 128
    assert torch.cuda.nccl.is_available([torch.ones(1, device=f"cuda:{index}") for index in range(2)])
    assert not torch.cuda.nccl.is_available([torch.ones(1)])
    assert dist.is_backend_available("nccl")


def told(what: str, **environment: str) -> tuple[dict[int, tuple[str, float]], list[int]]:
    """What each of three members says of a failure, and after how many seconds; how they ended."""
    reports = mp.get_context("spawn").Queue()
    arguments: Any = (what, 3, free_port(), reports, environment)
    context = mp.start_processes(workers.failing, arguments, 3, join=False)
    end = time.monotonic() + 90
    for process in context.processes:
        process.join(max(0, end - time.monotonic()))
        assert process.exitcode is not None, f"{what}: a member hangs"
    said = {}
    while not reports.empty():
        rank, text, seconds = reports.get()
        said[rank] = text, seconds
    return said, [process.exitcode for process in context.processes]


CLEAN_UP = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "2"}


@pytest.fixture
def caching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that is freed is kept: to give it back waits for the device, which stands still here."""
    monkeypatch.delenv("PYTORCH_NO_CUDA_MEMORY_CACHING", raising=False)


@needs_emulation
@pytest.mark.usefixtures("caching")
def test_a_member_that_is_killed_is_named() -> None:
    said, codes = told("killed", **CLEAN_UP)
    assert set(said) == {0, 1}
    assert codes == [0, 0, -9]
    for text, _ in said.values():
        assert "Rank 2 did not come to this call" in text
        assert "remote process exited" in text, "not by the timeout"


@needs_emulation
@pytest.mark.usefixtures("caching")
def test_by_default_the_process_ends(capfd: pytest.CaptureFixture[str]) -> None:
    said, codes = told("absent")
    assert not {0, 1} & set(said)
    assert codes[:2] == [-6, -6]
    errors = capfd.readouterr().err
    assert re.search(r"ALLREDUCE timed out on rank 0 .*Rank 2 did not come to this call", errors)
    # A second later the store ends with rank 0: whoever is later than that can ask nobody.
    told_by_the_other = r"ALLREDUCE (timed out|failed) on rank 1 .*(Rank 2 did not come to this call|cannot be asked)"
    assert re.search(told_by_the_other, errors)


@needs_emulation
@pytest.mark.usefixtures("caching")
@pytest.mark.parametrize(
    ("what", "environment"),
    [("absent", CLEAN_UP), ("blocking", {"TORCH_NCCL_BLOCKING_WAIT": "1"}), ("unmet", CLEAN_UP)],
)
def test_a_member_that_does_not_come_is_named(what: str, environment: dict[str, str]) -> None:
    said, _ = told(what, **environment)
    for rank in (0, 1):
        assert re.search("ank 2 did not (come to this call|connect)", said[rank][0])
        assert said[rank][1] < 20


@needs_emulation
@pytest.mark.usefixtures("caching")
def test_a_device_that_fails_ends_the_calls() -> None:
    said, _ = told("lost", **CLEAN_UP)
    assert re.search("the device cannot be asked about it: an illegal memory access", said[0][0])
    assert set(said) == {0, 1, 2}, "the others are told"


@needs_emulation
@pytest.mark.usefixtures("caching")
def test_half_of_a_group_is_told_who_does_not_come() -> None:
    said, _ = told("half", **CLEAN_UP)
    assert "Rank 1 did not come to this call" in said[0][0]  # of the group: 2 of all
    assert said[0][1] < 20


@needs_emulation
@pytest.mark.usefixtures("caching")
@pytest.mark.parametrize(
    ("what", "first", "others"),
    [
        ("other_shape", r"TensorShape=\[2000\]", r"TensorShape=\[1000\]"),
        ("other_type", "dtype=float32", "dtype=float64"),
        ("other_call", "ALLREDUCE", "BROADCAST"),
    ],
)
def test_calls_that_differ_are_told(what: str, first: str, others: str) -> None:
    said, _ = told(what, **CLEAN_UP)
    assert re.search(first, said[1][0] + said[2][0])
    assert re.search(others, said[0][0])
    said, _ = told(what, TORCH_DISTRIBUTED_DEBUG="DETAIL", **CLEAN_UP)
    assert all(text.startswith("Detected mismatch between collectives on ranks.") for text, _ in said.values())
    assert all(re.search(first, text) and re.search(others, text) for text, _ in said.values())
