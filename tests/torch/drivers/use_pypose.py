import pypose as pp

import torch

torch.manual_seed(0)
r = pp.randn_SO3(3, requires_grad=True)
x = torch.randn(3, 3)
y = r @ x
y.sum().backward()
print(y, r.grad)
a = pp.randn_se3(2)
print(a.Exp().matrix().shape, a.Exp().Log().tensor().allclose(a.tensor(), atol=1e-4), a.Exp().Inv() @ torch.ones(2, 3))


class P(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.p = pp.Parameter(pp.randn_SE3(2))

    def forward(self, i):
        return (self.p @ i).Log().tensor()


m = P()
o = pp.optim.LM(m, strategy=pp.optim.strategy.Adaptive(damping=1e-6))
i = pp.randn_SE3(2)
for _ in range(5):
    e = o.step(i)
print(float(e) < 1e-3)
