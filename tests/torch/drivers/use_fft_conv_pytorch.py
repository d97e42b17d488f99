from fft_conv_pytorch import FFTConv1d, fft_conv

import torch

torch.manual_seed(0)
x, weight, bias = torch.randn(2, 4, 30, 31), torch.randn(6, 2, 7, 5), torch.randn(6)
options = {"padding": 2, "stride": 2, "dilation": 2, "groups": 2}
out = fft_conv(x, weight, bias=bias, **options)
print(out.norm(), (out - torch.nn.functional.conv2d(x, weight, bias, **options)).abs().max() < 1e-4)
layer = FFTConv1d(3, 4, 9, padding=3, padding_mode="circular")
layer(torch.randn(2, 3, 40)).square().sum().backward()
print(layer.weight.grad.norm())
