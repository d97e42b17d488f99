import _torchvision_operators  # noqa: F401
import piq

import torch

torch.manual_seed(0)
x, y = torch.rand(1, 3, 48, 48), torch.rand(1, 3, 48, 48, requires_grad=True)
for measure in (piq.ssim, piq.psnr, piq.gmsd, piq.vsi, piq.fsim, piq.haarpsi, piq.mdsi):
    value = measure(x, y, data_range=1.0)
    print(measure.__name__, value.detach(), torch.autograd.grad(value, y)[0].norm())
