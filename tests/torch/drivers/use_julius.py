import julius

import torch

torch.manual_seed(0)
x = torch.randn(2, 1000, requires_grad=True)
y = julius.resample_frac(x, 4, 5)
y.sum().backward()
print(y.shape, round(float(y.abs().sum()), 3))
print(
    round(float(julius.lowpass_filter(x, 0.1).abs().sum()), 3),
    [round(float(b.abs().sum()), 2) for b in julius.split_bands(x, 100, 4)],
    round(float(julius.fft_conv1d(x[:, None], torch.randn(3, 1, 64)).abs().sum()), 2),
)
