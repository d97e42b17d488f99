from tsai.models.InceptionTime import InceptionTime
from tsai.models.PatchTST import PatchTST
from tsai.models.TST import TST
from tsai.models.XCM import XCM

import torch

torch.manual_seed(0)
x = torch.randn(4, 3, 50)
for m in (
    InceptionTime(3, 2),
    TST(3, 2, 50, n_layers=1, d_model=16, n_heads=2),
    XCM(3, 2, 50),
    PatchTST(3, 2, 50, pred_dim=5),
):
    y = m(x)
    y.pow(2).mean().backward()
    print(
        type(m).__name__,
        tuple(y.shape),
        f"{float(y.abs().mean()):.4g}",
        f"{sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.4g}",
    )
