import ptflops

import torch

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2)
)
print(
    ptflops.get_model_complexity_info(model, (3, 8, 8), as_strings=False, print_per_layer_stat=False, backend="pytorch")
)
