from torch_ema import ExponentialMovingAverage

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
average = ExponentialMovingAverage(model.parameters(), decay=0.9)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.randn(4, 3)).square().sum().backward()
    optimizer.step()
    average.update()
with average.average_parameters():
    print(model.weight.detach())
print(model.weight.detach(), sorted(average.state_dict()))
