from e3nn import nn, o3
from e3nn.math import soft_one_hot_linspace

import torch

torch.manual_seed(0)
x = torch.randn(6, 3)
print(o3.spherical_harmonics([0, 1, 2], x, normalize=True).sum(0))
irreps = o3.Irreps("4x0e + 2x1o + 1x2e")
product = o3.FullyConnectedTensorProduct(irreps, "1x0e + 1x1o", "3x0e + 2x1o")
out = product(irreps.randn(6, -1), torch.randn(6, 4))
out.square().mean().backward()
print(out.detach().norm(), product.weight.grad.norm())
print(
    o3.Linear(irreps, "2x0e + 1x1o")(irreps.randn(2, -1)).detach(), o3.rand_matrix(1).shape, o3.wigner_3j(1, 1, 1).sum()
)
print(nn.Gate("2x0e", [torch.tanh], "1x0e", [torch.sigmoid], "1x1o")(torch.randn(1, 6)))
print(soft_one_hot_linspace(torch.linspace(0, 1, 4), 0.0, 1.0, 3, "gaussian", True))
