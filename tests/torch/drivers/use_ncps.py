from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP

import torch

torch.manual_seed(0)
x = torch.randn(2, 5, 3)
for model in (CfC(3, AutoNCP(8, 2)), LTC(3, AutoNCP(8, 2)), CfC(3, 6)):
    out, state = model(x)
    out.square().mean().backward()
    print(
        type(model).__name__, out.sum().detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None)
    )
