from optimum.quanto import QTensor, freeze, qint8, quantize

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
x = torch.randn(4, 32)
before = model(x)
quantize(model, weights=qint8)
freeze(model)
with torch.no_grad():
    after = model(x)
print(type(model[0].weight).__name__, isinstance(model[0].weight, QTensor), model[0].weight.dtype)
print(after[0], float((after - before).abs().max() < 0.05))
y = model(x.requires_grad_()).square().mean()
y.backward()
print(x.grad[0, :4])
