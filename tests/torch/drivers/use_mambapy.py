from mambapy.mamba import Mamba, MambaConfig
from mambapy.pscan import pscan

import torch

torch.manual_seed(0)
x = torch.randn(2, 7, 16, requires_grad=True)
for parallel in (True, False):
    torch.manual_seed(1)
    model = Mamba(MambaConfig(d_model=16, n_layers=2, pscan=parallel))
    y = model(x)
    (gradient,) = torch.autograd.grad(y.square().mean(), x)
    print(y[0, -1, :4].detach(), f"{gradient.norm().item():.6f}", sum(p.numel() for p in model.parameters()))
caches = [(None, torch.zeros(2, 32, 3)) for _ in range(2)]
with torch.no_grad():
    for step in range(3):
        out, caches = model.step(x[:, step], caches)
print(out[0, :4])
print(pscan(torch.full((1, 4, 2, 1), 0.5), torch.ones(1, 4, 2, 1)).squeeze())
