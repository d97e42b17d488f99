from pytorch_wavelets import DTCWTForward, DTCWTInverse, DWTForward, DWTInverse, ScatLayer

import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 32, 32, requires_grad=True)
low, high = DWTForward(J=2, wave="db3", mode="zero")(x)
print(
    low.norm(),
    [each.norm() for each in high],
    (DWTInverse(wave="db3", mode="zero")((low, high)) - x).abs().max() < 1e-5,
)
low, high = DTCWTForward(J=2, biort="near_sym_b", qshift="qshift_b")(x)
print(low.norm(), [each.norm() for each in high], (DTCWTInverse()((low, high)) - x).abs().max() < 1e-1)
ScatLayer()(x).square().sum().backward()
print(x.grad.norm())
