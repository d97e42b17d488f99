from fairscale.nn import FlattenParamsWrapper, checkpoint_wrapper
from fairscale.optim import AdaScale

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(checkpoint_wrapper(torch.nn.Linear(4, 4)), torch.nn.ReLU(), torch.nn.Linear(4, 2))
wrapped = FlattenParamsWrapper(model)
print(wrapped(torch.ones(1, 4)).detach(), wrapped.flat_param.numel())
optimizer = AdaScale(torch.optim.SGD(wrapped.parameters(), lr=0.1), world_size=1, num_gradients_to_accumulate=2)
for _ in range(2):
    wrapped(torch.randn(3, 4)).square().mean().backward()
optimizer.step()
print(wrapped.flat_param.detach().norm())
