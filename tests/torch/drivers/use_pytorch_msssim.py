from pytorch_msssim import MS_SSIM, ssim

import torch

torch.manual_seed(0)
first = torch.rand(2, 3, 176, 176, requires_grad=True)
second = (first + 0.1 * torch.randn(2, 3, 176, 176)).detach().clamp(0, 1)
print(ssim(first, second, data_range=1, size_average=False))
loss = 1 - MS_SSIM(data_range=1, channel=3)(first, second)
loss.backward()
print(loss.detach(), first.grad.abs().sum())
