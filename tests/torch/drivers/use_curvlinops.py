from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator, hutchinson_trace

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
data = [(torch.randn(5, 4), torch.randint(3, (5,))) for _ in range(2)]
parameters = [p for p in model.parameters() if p.requires_grad]
count = sum(p.numel() for p in parameters)
vector = torch.randn(count)
for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
    operator = kind(model, nn.CrossEntropyLoss(), parameters, data)
    print((operator @ vector).detach().norm(), hutchinson_trace(operator, num_matvecs=10).detach())
