from torchinfo import summary

import torch

model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 2))
result = summary(model, input_size=(2, 3, 8, 8), verbose=0)
print(result.total_params, result.total_mult_adds, result.trainable_params)
