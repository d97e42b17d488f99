import torchsde

import torch

torch.manual_seed(0)


class Equation(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.theta = torch.nn.Parameter(torch.tensor(0.5))

    def f(self, t, y):
        return -self.theta * y

    def g(self, t, y):
        return 0.1 * torch.ones_like(y)


equation = Equation()
ts = torch.linspace(0, 1, 5)
motion = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(3, 2), entropy=7)
ys = torchsde.sdeint(equation, torch.ones(3, 2), ts, bm=motion, method="euler", dt=0.1)
ys[-1].sum().backward()
print(ys[-1], equation.theta.grad)
