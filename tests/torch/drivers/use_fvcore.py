from fvcore.nn import parameter_count, sigmoid_focal_loss, smooth_l1_loss

import torch

torch.manual_seed(0)
print(sigmoid_focal_loss(torch.randn(4), torch.tensor([0.0, 1.0, 0.0, 1.0]), reduction="mean"))
print(parameter_count(torch.nn.Linear(3, 4)))
print(smooth_l1_loss(torch.randn(4), torch.zeros(4), 0.5, reduction="sum"))
