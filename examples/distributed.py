"""Trains a small network in as many processes as torchrun or mpirun starts; after a restart from the checkpoint.

torchrun --standalone --nproc-per-node 2 distributed.py CHECKPOINT
"""

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main() -> None:
    path = Path(sys.argv[1])
    dist.init_process_group(sys.argv[2] if len(sys.argv) > 2 else None)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = 0
    if path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        first = saved["epoch"] + 1

    inputs = torch.randn(64, 4)
    targets = inputs.sum(1, keepdim=True)
    data = TensorDataset(inputs, targets)
    sampler = DistributedSampler(data)  # each process has its share
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    for epoch in range(first, 5):
        sampler.set_epoch(epoch)
        for batch, target in loader:
            loss = torch.nn.functional.mse_loss(model(batch), target)
            optimizer.zero_grad()
            loss.backward()  # gradients are averaged meanwhile
            optimizer.step()
        if dist.get_rank() == 0:
            torch.save({"model": model.state_dict(), "epoch": epoch}, path)
        dist.barrier()
    with torch.no_grad():
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} processes, loss {float(loss):.4f}")
    dist.destroy_process_group()


main()
