import thop

import torch

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3),
    torch.nn.BatchNorm2d(4),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(4, 2),
)
print(thop.profile(model, (torch.rand(1, 3, 8, 8),), verbose=False))
print(thop.profile(torch.nn.LSTM(4, 8), (torch.rand(3, 1, 4),), verbose=False))
