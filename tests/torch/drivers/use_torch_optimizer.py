import torch_optimizer

import torch

torch.manual_seed(0)
x = torch.randn(8, 4)
for kind in ("RAdam", "Lamb", "AdaBound", "Yogi", "DiffGrad", "NovoGrad", "QHM", "AdaMod"):
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    options = {"lr": 0.01, "momentum": 0.9} if kind == "QHM" else {"lr": 0.01}
    optimizer = getattr(torch_optimizer, kind)(model.parameters(), **options)
    for _ in range(4):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    print(kind, model.weight.detach())
