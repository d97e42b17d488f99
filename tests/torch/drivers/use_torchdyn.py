from torchdyn.core import NeuralODE

import torch

torch.manual_seed(0)
f = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
for s in ("adjoint", "autograd"):
    m = NeuralODE(f, sensitivity=s, solver="dopri5")
    t, y = m(torch.ones(4, 2), torch.linspace(0, 1, 3))
    f.zero_grad()
    y[-1].sum().backward()
    print(s, y[-1][0], f[0].weight.grad.abs().sum())
