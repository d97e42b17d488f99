import snntorch
from snntorch import functional, spikegen

import torch

torch.manual_seed(0)
leaky = snntorch.Leaky(beta=0.9)
layer = torch.nn.Linear(4, 3)
spikes = spikegen.rate(torch.rand(2, 4), num_steps=5)
potential, recorded = leaky.init_leaky(), []
for step in spikes:
    out, potential = leaky(layer(step), potential)
    recorded.append(out)
loss = functional.ce_rate_loss()(torch.stack(recorded), torch.tensor([0, 2]))
loss.backward()
print(loss.detach(), layer.weight.grad.norm())
