import einx

import torch

torch.manual_seed(0)
x, y = torch.randn(2, 3, 4), torch.randn(4, 5)
print(einx.sum("a [b] c", x).norm(), einx.dot("a b [c], [c] d -> a b d", x, y).norm(), einx.mean("a [b c]", x))
print(
    einx.id("a b (c d) -> (a c) b d", x, c=2).shape,
    einx.softmax("a b [c]", x).norm(),
    einx.add("a b c, b -> a b c", x, torch.ones(3)).norm(),
)
