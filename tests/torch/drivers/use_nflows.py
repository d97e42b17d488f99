from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation

import torch

torch.manual_seed(0)
parts = [p for _ in range(2) for p in (ReversePermutation(3), MaskedAffineAutoregressiveTransform(3, 8))]
flow = Flow(CompositeTransform(parts), StandardNormal([3]))
x = torch.randn(5, 3)
loss = -flow.log_prob(x).mean()
loss.backward()
print(loss, sum(p.grad.norm() for p in flow.parameters() if p.grad is not None))
