"""loralib: a network of low-rank updates trains, and only these are saved."""

import loralib

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    loralib.Linear(4, 8, r=2, lora_alpha=4),
    nn.ReLU(),
    loralib.MergedLinear(8, 6, r=2, enable_lora=[True, False, True]),
)
embedding = loralib.Embedding(5, 4, r=2)
model = nn.ModuleList([embedding, net])
loralib.mark_only_lora_as_trainable(model, bias="lora_only")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.05)
x, y = torch.randint(0, 5, (16,)), torch.randn(16, 6)
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(embedding(x)), y)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
model.eval()
print(f"{net(embedding(x)).sum().item():.4f}")
print(sorted(loralib.lora_state_dict(model)))
