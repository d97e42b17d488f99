import pytorch_optimizer

import torch

for name in (
    "Lion",
    "AdaBelief",
    "Lamb",
    "Ranger21",
    "Prodigy",
    "ScheduleFreeAdamW",
    "SOAP",
    "AdEMAMix",
    "CAME",
    "Shampoo",
):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    options = {"num_iterations": 10} if name == "Ranger21" else {}
    optimizer = getattr(pytorch_optimizer, name)(model.parameters(), lr=1e-2, **options)
    if hasattr(optimizer, "train"):
        optimizer.train()
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 4)).square().mean()
        loss.backward()
        optimizer.step()
    print(name, loss.detach())
