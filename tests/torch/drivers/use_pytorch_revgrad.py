from pytorch_revgrad import RevGrad

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(RevGrad(alpha=0.5)(x) ** 2).sum().backward()
print(x.grad, torch.nn.Sequential(torch.nn.Linear(2, 2), RevGrad()))
