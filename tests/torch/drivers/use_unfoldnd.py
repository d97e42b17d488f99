import unfoldNd

import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 4, 5, 6, requires_grad=True)
out = unfoldNd.unfoldNd(x, (2, 2, 3), dilation=1, padding=1, stride=2)
print(out.shape, out.norm())
print(unfoldNd.foldNd(out, (4, 5, 6), (2, 2, 3), padding=1, stride=2).norm())
print(unfoldNd.UnfoldTransposeNd(2, stride=2)(torch.randn(1, 2, 5)).norm())
