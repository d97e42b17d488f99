"""Trains a small network for one step and checks that it learned: forward, backward and optimizer all work."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, targets = torch.randn(16, 4), torch.randn(16, 1)
criterion = nn.MSELoss()

before = criterion(model(inputs), targets)
before.backward()
optimizer.step()
after = criterion(model(inputs), targets)
print(f"torch {torch.__version__}: loss {before.item():.4f} -> {after.item():.4f}")
assert after.item() < before.item(), "one step of gradient descent must lower the loss"
assert torch.version.cuda is None or torch.cuda.is_available() or torch.cuda.unavailable_reason()
