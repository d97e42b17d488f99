import xitorch
from xitorch.integrate import quad, solve_ivp
from xitorch.interpolate import Interp1D
from xitorch.linalg import solve, symeig
from xitorch.optimize import minimize, rootfinder

import torch

torch.manual_seed(0)
a = torch.randn(3, 3, dtype=torch.float64)
a = (a @ a.T + 2 * torch.eye(3, dtype=torch.float64)).requires_grad_()
operator = xitorch.LinearOperator.m(a)
values, vectors = symeig(operator, neig=2)
print(values.detach(), solve(operator, torch.ones(3, 1, dtype=torch.float64)).squeeze().detach())
values.sum().backward()
print(a.grad)
p = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
root = rootfinder(lambda y, p: y**2 - p, torch.ones((), dtype=torch.float64), params=(p,))
root.backward()
print(root.detach(), p.grad)
best = minimize(
    lambda y, p: ((y - p) ** 2).sum(), torch.zeros(2, dtype=torch.float64), params=(p.detach(),), method="gd", step=0.1
)
print(best)
print(quad(lambda x, p: torch.sin(p * x), 0, 1, params=(p.detach(),)))
print(solve_ivp(lambda t, y: -y, torch.linspace(0, 1, 3, dtype=torch.float64), torch.ones(1, dtype=torch.float64)))
x = torch.linspace(0, 1, 6, dtype=torch.float64)
print(Interp1D(x, x**3, method="cspline")(torch.tensor([0.25, 0.7], dtype=torch.float64)))
