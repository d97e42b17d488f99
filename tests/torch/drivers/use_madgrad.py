import madgrad
from adabelief_pytorch import AdaBelief
from dadaptation import DAdaptAdam, DAdaptSGD

import torch

for make in (
    lambda p: madgrad.MADGRAD(p, lr=0.01, weight_decay=0.1),
    lambda p: madgrad.MirrorMADGRAD(p, lr=0.01),
    lambda p: AdaBelief(p, lr=0.01, eps=1e-12, betas=(0.9, 0.999), rectify=True, print_change_log=False),
    lambda p: DAdaptAdam(p, lr=1.0),
    lambda p: DAdaptSGD(p, lr=1.0, momentum=0.5),
):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    steps = make(model.parameters())
    for _ in range(6):
        steps.zero_grad()
        (model(torch.ones(4, 3)) ** 2).mean().backward()
        steps.step()
    print(type(steps).__name__, model.weight.detach().flatten())
