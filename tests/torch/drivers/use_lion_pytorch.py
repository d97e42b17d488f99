from lion_pytorch import Lion

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = Lion(model.parameters(), lr=1e-2, weight_decay=1e-2)
x = torch.randn(8, 4)
for _ in range(5):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
print(model.weight, model.bias)
