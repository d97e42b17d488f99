import FrEIA.framework as Ff
import FrEIA.modules as Fm
import numpy

import torch
from torch import nn


def subnet(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))


torch.manual_seed(0)
numpy.random.seed(0)
net = Ff.SequenceINN(4)
for _ in range(2):
    net.append(Fm.AllInOneBlock, subnet_constructor=subnet, permute_soft=True)
net.append(Fm.RNVPCouplingBlock, subnet_constructor=subnet)
net.append(Fm.ActNorm)
steps = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(16, 4)
for _ in range(3):
    z, volume = net(x)
    loss = (z.square().sum(1) / 2 - volume).mean()
    steps.zero_grad()
    loss.backward()
    steps.step()
    print(loss.detach())
print((net(net(x)[0], rev=True)[0] - x).abs().max() < 1e-4)
