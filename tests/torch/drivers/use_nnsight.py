from collections import OrderedDict

import nnsight

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(OrderedDict(a=torch.nn.Linear(5, 10), b=torch.nn.Linear(10, 2)))
m = nnsight.NNsight(net)
x = torch.rand(1, 5)
with m.trace(x):
    h = m.a.output.save()
    m.a.output[:, 3] = 0
    o = m.output.save()
print(h, o)
