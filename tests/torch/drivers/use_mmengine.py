import tempfile
from pathlib import Path

from mmengine.model import BaseModel
from mmengine.runner import Runner

import torch

torch.manual_seed(0)


class M(BaseModel):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(4, 2)

    def forward(self, x, y, mode):
        o = self.l(x)
        return {"loss": torch.nn.functional.cross_entropy(o, y)} if mode == "loss" else (o, y)


ds = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randint(0, 2, (16,)))
with tempfile.TemporaryDirectory() as d:
    r = Runner(
        M(),
        work_dir=d,
        train_dataloader={
            "dataset": ds,
            "batch_size": 4,
            "sampler": {"type": "DefaultSampler", "shuffle": False},
            "collate_fn": {"type": "default_collate"},
        },
        train_cfg={"by_epoch": True, "max_epochs": 2},
        optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.1}},
        param_scheduler={"type": "MultiStepLR", "milestones": [1]},
        log_level="CRITICAL",
        randomness={"seed": 1},
    )
    r.train()
    print(r.model.l.weight)
    print(sorted(path.name for path in Path(d).glob("*.pth")))
