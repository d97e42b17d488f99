from torchjd.aggregation import IMTLG, MGDA, PCGrad, UPGrad
from torchjd.autojac import backward, jac_to_grad, mtl_backward

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 3)
for aggregator in (UPGrad(), MGDA(), IMTLG(), PCGrad()):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    out = net(x)
    backward([out[:, 0].square().mean(), (out[:, 1] - 1).square().mean()])
    jac_to_grad(net.parameters(), aggregator)
    print(type(aggregator).__name__, net[0].weight.grad)
shared, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
features = shared(x)
mtl_backward([one(features).square().mean(), two(features).mean()], features=features)
jac_to_grad(shared.parameters(), UPGrad())
print(shared.bias.grad, two.weight.grad)
