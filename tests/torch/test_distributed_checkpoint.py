"""torch.distributed.checkpoint: written by some processes, read by others, and by another torch."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import distributed_training as training
import distributed_workers as workers
import pytest
from distributed_workers import free_port

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed import checkpoint

GOLDEN = Path(__file__).parent / "golden"
needs_gloo = pytest.mark.skipif(not dist.is_gloo_available(), reason="libtorch_distributed is not installed")


@needs_gloo
def test_shared_state(tmp_path: Path) -> None:
    mp.spawn(workers.run, (training.shared_state, 3, free_port(), str(tmp_path / "checkpoint")), 3)


@needs_gloo
def test_checkpoints_of_pytorch_are_read() -> None:
    folder = str(GOLDEN / "distributed_checkpoint")
    mp.spawn(workers.run, (training.read_checkpoint, 2, free_port(), folder, "blocks"), 2)


@needs_gloo
def test_checkpoints_are_read_by_other_processes(tmp_path: Path) -> None:
    mp.spawn(workers.run, (training.write_checkpoint, 3, free_port(), str(tmp_path)), 3)
    mp.spawn(workers.run, (training.read_checkpoint, 2, free_port(), str(tmp_path)), 2)


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
