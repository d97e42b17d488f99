import higher

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(5, 3), torch.randn(5, 1)
with higher.innerloop_ctx(model, optimizer) as (inner, steps):
    for _ in range(3):
        steps.step(((inner(x) - y) ** 2).mean())
    loss = ((inner(x) - y) ** 2).mean()
    loss.backward()
print(loss, model.weight.grad)
