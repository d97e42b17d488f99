import tensorly as tl
import tltorch

import torch

tl.set_backend("pytorch")
torch.manual_seed(0)
layer = tltorch.FactorizedLinear(
    in_tensorized_features=(2, 3), out_tensorized_features=(4, 2), rank="same", factorization="blocktt"
)
for parameter in layer.parameters():
    torch.nn.init.uniform_(parameter, -0.5, 0.5)
layer(torch.randn(5, 6)).square().sum().backward()
print([p.grad.norm() for p in layer.parameters()])
conv = tltorch.FactorizedConv.from_conv(torch.nn.Conv2d(3, 4, 3), rank=0.5, factorization="cp")
print(conv(torch.randn(1, 3, 8, 8)).shape)
factor = tltorch.FactorizedTensor.new((4, 5, 6), rank=(2, 2, 2), factorization="tucker").normal_(0, 1)
print(factor.to_tensor().shape, tltorch.TRL((4, 5), (3,), rank="same", factorization="tucker"))
