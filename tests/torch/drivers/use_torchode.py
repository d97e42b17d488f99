import torchode as to

import torch


def f(t, y):
    return -y * torch.tensor([1.0, 2.0])


y0 = torch.tensor([[1.0, 2.0], [0.5, 1.0]])
t = torch.linspace(0, 1, 5).repeat(2, 1)
term = to.ODETerm(f)
m = to.Dopri5(term=term)
c = to.IntegralController(atol=1e-6, rtol=1e-3, term=term)
s = to.AutoDiffAdjoint(m, c).solve(to.InitialValueProblem(y0=y0, t_eval=t))
print(s.ys, s.stats["n_steps"])
s = torch.compile(to.AutoDiffAdjoint(m, c)).solve(to.InitialValueProblem(y0=y0, t_eval=t))
print(s.status)
