import kornia

import torch

torch.manual_seed(0)
x = torch.rand(1, 3, 8, 8)
print(kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0)).mean((2, 3)), kornia.color.rgb_to_hsv(x).mean((2, 3)))
print(kornia.filters.sobel(x).mean((2, 3)), kornia.losses.ssim_loss(x, x * 0.9, 3))
