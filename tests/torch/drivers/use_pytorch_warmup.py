import pytorch_warmup as warmup

import torch

model = torch.nn.Linear(2, 1)
steps = torch.optim.AdamW(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steps, T_max=8)
rising = warmup.UntunedLinearWarmup(steps)
slower = warmup.ExponentialWarmup(torch.optim.SGD(model.parameters(), lr=1.0), warmup_period=5)
rates = []
for _ in range(8):
    steps.step()
    rates.append(steps.param_groups[0]["lr"])
    with rising.dampening():
        schedule.step()
print([f"{rate:.6f}" for rate in rates], slower.optimizer.param_groups[0]["lr"])
