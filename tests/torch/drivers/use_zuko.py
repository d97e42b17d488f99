import zuko

import torch

torch.manual_seed(0)
flow = zuko.flows.MAF(features=3, context=2, transforms=2, hidden_features=(16, 16))
x, c = torch.randn(6, 3), torch.randn(6, 2)
loss = -flow(c).log_prob(x).mean()
loss.backward()
print(loss, sum(p.grad.norm() for p in flow.parameters() if p.grad is not None))
