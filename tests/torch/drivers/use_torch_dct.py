import torch_dct

import torch

torch.manual_seed(0)
x = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
print(torch_dct.dct(x, norm="ortho").norm(), (torch_dct.idct(torch_dct.dct(x)) - x).abs().max() < 1e-12)
print(torch_dct.dct_2d(x).sum(), torch_dct.dct1(x).sum(), torch_dct.dct_3d(x[None]).abs().sum())
torch_dct.dct_2d(x).square().sum().backward()
print(x.grad.norm(), torch_dct.LinearDCT(8, "dct")(torch.ones(2, 8)).abs().sum())
