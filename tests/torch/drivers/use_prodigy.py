import prodigyopt

import torch

torch.manual_seed(0)
m = torch.nn.Linear(2, 3)
o = prodigyopt.Prodigy(m.parameters())
for _ in range(5):
    o.zero_grad()
    (m(torch.ones(4, 2)) ** 2).mean().backward()
    o.step()
print(m.weight, f"{o.param_groups[0]['d']:.4g}")
