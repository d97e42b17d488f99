from qpth.qp import QPFunction, QPSolvers

import torch

torch.manual_seed(0)
n, m, batch = 5, 4, 3
factor = torch.randn(batch, n, n, dtype=torch.float64)
q = (factor @ factor.mT + torch.eye(n, dtype=torch.float64)).requires_grad_()
p = torch.randn(batch, n, dtype=torch.float64, requires_grad=True)
g, h = torch.randn(batch, m, n, dtype=torch.float64), torch.rand(batch, m, dtype=torch.float64)
a, b = torch.randn(batch, 2, n, dtype=torch.float64), torch.zeros(batch, 2, dtype=torch.float64)
x = QPFunction(verbose=-1, solver=QPSolvers.PDIPM_BATCHED)(q, p, g, h, a, b)
x.square().sum().backward()
print(x, p.grad.norm(), q.grad.norm())
