import torchkbnufft as tkbn

import torch

torch.manual_seed(0)
x = torch.randn(1, 1, 16, 16, dtype=torch.complex64)
k = (torch.rand(2, 40) * 2 - 1) * 3.14
f = tkbn.KbNufft(im_size=(16, 16))
a = tkbn.KbNufftAdjoint(im_size=(16, 16))
y = f(x, k)
print(y.shape, f"{y.abs().sum():.4f} {a(y, k).abs().sum():.4f}")
