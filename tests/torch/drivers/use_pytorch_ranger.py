"""pytorch_ranger: its optimizers, which call tensors as programs of PyTorch 1.0 do."""

import pytorch_ranger

import torch

for kind in (pytorch_ranger.Ranger, pytorch_ranger.RangerQH, pytorch_ranger.RangerVA):
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 3)
    optimizer = kind(layer.parameters(), lr=0.05)
    x, y = torch.randn(16, 4), torch.randn(16, 3)
    for _ in range(8):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(x), y)
        loss.backward()
        optimizer.step()
    print(kind.__name__, f"{loss.item():.5f}", f"{layer.weight.sum().item():.5f}")
