from torchsummary import summary

import torch

summary(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2)), (3, 8, 8), device="cpu")
