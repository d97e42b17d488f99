"""Writes distributed.json and distributed_checkpoint/ with real PyTorch, by two processes.

    python tests/torch/golden/make_distributed.py [--check-ours FOLDER]

distributed.json: what DistributedDataParallel has trained, for given seeds. distributed_checkpoint/: a folder of
`torch.distributed.checkpoint.save`, one of its tensors in two blocks. `--check-ours` reads a checkpoint that this torch
wrote (`distributed_training.write_checkpoint`) and says what differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import distributed_training as training  # noqa: E402
import distributed_workers as workers  # noqa: E402

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

FOLDER = HERE / "distributed_checkpoint"
SIZE, PORT = 2, 29611


def member(rank: int) -> None:
    """One of the processes; the first writes the file."""
    from torch.distributed import checkpoint
    from torch.distributed.tensor import Shard, distribute_tensor

    workers.join(rank, SIZE, PORT)
    everybody: list[Any] = [None] * SIZE
    dist.all_gather_object(everybody, training.seeded_training(rank, SIZE))
    mesh = dist.init_device_mesh("cpu", (SIZE,))
    blocks = {"blocks": distribute_tensor(torch.arange(10.0).reshape(5, 2), mesh, [Shard(0)])}
    checkpoint.save(training.checkpoint_state(rank, fill=True) | blocks, checkpoint_id=FOLDER.name)
    if rank == 0:
        text = json.dumps({"torch": torch.__version__, "training": everybody})
        (HERE / "distributed.json").write_text(text + "\n", encoding="utf-8")
    dist.destroy_process_group()


def check(rank: int, folder: str) -> None:
    """One of the processes that read what was written by others."""
    workers.join(rank, SIZE, PORT)
    training.read_checkpoint(rank, SIZE, folder)
    dist.destroy_process_group()


def main() -> None:
    """Writes the files, or checks a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check-ours", metavar="FOLDER")
    options = parser.parse_args()
    if options.check_ours:
        torch.multiprocessing.spawn(check, (str(Path(options.check_ours).resolve()),), SIZE)
        return
    os.chdir(HERE)  # a checkpoint keeps the name of its folder
    shutil.rmtree(FOLDER, ignore_errors=True)
    torch.multiprocessing.spawn(member, (), SIZE)


if __name__ == "__main__":
    main()
