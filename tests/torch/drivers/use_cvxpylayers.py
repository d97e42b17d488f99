import cvxpy as cp
from cvxpylayers.torch import CvxpyLayer

import torch

x = cp.Variable(2)
A = cp.Parameter((3, 2))
b = cp.Parameter(3)
p = cp.Problem(cp.Minimize(cp.norm(A @ x - b, 1)), [x >= 0])
layer = CvxpyLayer(p, parameters=[A, b], variables=[x])
torch.manual_seed(0)
At, bt = (
    torch.randn(3, 2, requires_grad=True, dtype=torch.float64),
    torch.randn(3, requires_grad=True, dtype=torch.float64),
)
(s,) = layer(At, bt)
s.sum().backward()
print((s * 100).round() / 100 + 0.0, At.grad.abs().sum() < 1e3)
