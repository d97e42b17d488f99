"""The extension gives what torch gives, and its gradient."""

import softsum

import torch

values = torch.tensor([-2.0, 0.0, 3.0])
total, gradient = softsum.softsum(values)
assert torch.allclose(total, torch.log(torch.exp(values) + 1).sum()), total
assert torch.allclose(gradient, torch.sigmoid(values)), gradient
try:
    softsum.softsum(torch.ones(2, dtype=torch.int64))
except ValueError as error:
    print(error)
else:
    raise AssertionError("integers must be refused")
print("softsum works")
