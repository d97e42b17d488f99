from torchani import AEVComputer

import torch

torch.manual_seed(0)

a = AEVComputer.like_1x(num_species=4)
s = torch.tensor([[1, 0, 0, 0, 0]])
c = torch.tensor(
    [[[0.03, 0.006, 0.01], [-0.83, 0.39, -0.26], [-0.66, -0.84, 0.2], [0.45, 0.53, 0.85], [0.66, -0.17, -0.9]]],
    requires_grad=True,
)
o = a(s, c)
o = o[1] if isinstance(o, tuple) else o
o.sum().backward()
print(o.shape, f"{o.sum().item():.4f}", c.grad)
