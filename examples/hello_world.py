"""The first program: one layer, one loss, one gradient. Prints the same two lines with PyTorch.

tensor([0.8506], grad_fn=<SigmoidBackward0>)
tensor(0.0223, grad_fn=<MseLossBackward0>)
"""

import torch

torch.manual_seed(1727)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())

prediction = model(torch.tensor([1.0, 2.0, 3.0]))
print(prediction)

loss = torch.nn.functional.mse_loss(prediction, torch.ones(1))
print(loss)

loss.backward()
