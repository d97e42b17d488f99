from mup import MuAdam, MuReadout, make_base_shapes, set_base_shapes
from mup.init import normal_

import torch
from torch import nn


def make(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), MuReadout(width, 2))


torch.manual_seed(0)
model = make(32)
set_base_shapes(model, make_base_shapes(make(8), make(16)))
for parameter in model.parameters():
    if parameter.dim() > 1:
        normal_(parameter, std=0.1)
steps = MuAdam(model.parameters(), lr=0.01)
for _ in range(3):
    loss = model(torch.randn(8, 4)).square().mean()
    steps.zero_grad()
    loss.backward()
    steps.step()
    print(loss.detach())
print(sorted({group["lr"] for group in steps.param_groups}))
