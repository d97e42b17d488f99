from zennit.attribution import Gradient
from zennit.composites import EpsilonGammaBox, EpsilonPlusFlat

import torch

torch.manual_seed(0)
m = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3, padding=1),
    torch.nn.BatchNorm2d(4),
    torch.nn.ReLU(),
    torch.nn.Flatten(),
    torch.nn.Linear(4 * 64, 3),
).eval()
x = torch.randn(1, 3, 8, 8)
for c in (EpsilonPlusFlat(), EpsilonGammaBox(low=-3.0, high=3.0)):
    with Gradient(model=m, composite=c) as a:
        o, r = a(x, torch.eye(3)[[0]])
    print(o, f"{r.sum().item():.5f} {r.abs().sum().item():.5f}")
