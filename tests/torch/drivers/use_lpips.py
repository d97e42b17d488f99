import lpips

import torch

torch.manual_seed(0)
loss = lpips.LPIPS(net="squeeze", pretrained=False, pnet_rand=True, verbose=False)
x = torch.rand(2, 3, 64, 64, requires_grad=True)
y = torch.rand(2, 3, 64, 64)
v = loss(x, y, normalize=True)
v.sum().backward()
print(v.flatten(), round(float(x.grad.abs().sum()), 4))
