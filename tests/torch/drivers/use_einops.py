from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange

import torch

x = torch.arange(24.0).reshape(2, 3, 4)
print(rearrange(x, "a b c -> b (a c)").sum(1), reduce(x, "a b c -> a c", "mean"), repeat(x[0, 0], "c -> c k", k=2))
print(torch.nn.Sequential(Rearrange("a b c -> a (b c)"), torch.nn.ReLU())(x).norm())
