from neuralop import H1Loss, LpLoss
from neuralop.models import FNO, TFNO

import torch

torch.manual_seed(0)
for m in (
    FNO(n_modes=(8, 8), hidden_channels=8, in_channels=1, out_channels=1, n_layers=2),
    TFNO(
        n_modes=(8, 8),
        hidden_channels=8,
        in_channels=1,
        out_channels=1,
        n_layers=2,
        factorization="tucker",
        rank=0.5,
        implementation="factorized",
    ),
):
    x = torch.randn(2, 1, 16, 16)
    y = torch.randn(2, 1, 16, 16)
    loss = LpLoss(d=2)(m(x), y) + H1Loss(d=2)(m(x), y)
    loss.backward()
    print(
        type(m).__name__,
        f"{loss.item():.4f}",
        f"{sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.4g}",
        sum(p.numel() for p in m.parameters()),
    )
