from torchdiffeq import odeint, odeint_adjoint

import torch

torch.manual_seed(0)


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y**3)


field, y0, t = Field(), torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 1.0, 5)
print(odeint(field, y0, t, method="dopri5")[-1], odeint(field, y0, t, method="rk4")[-1])
odeint_adjoint(field, y0, t)[-1].sum().backward()
print(field.net[0].weight.grad.norm())
