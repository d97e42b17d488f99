from captum.attr import DeepLift, IntegratedGradients, Saliency

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
x = torch.randn(2, 4)
print(IntegratedGradients(model).attribute(x, target=1, n_steps=10), Saliency(model).attribute(x, target=0))
print(DeepLift(model).attribute(x, target=2))
