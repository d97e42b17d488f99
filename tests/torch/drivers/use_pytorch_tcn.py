from pytorch_tcn import TCN, TemporalConv1d

import torch

torch.manual_seed(0)
model = TCN(num_inputs=3, num_channels=[4, 6], kernel_size=3, causal=True, use_norm="weight_norm", dropout=0.0)
out = model(torch.randn(2, 3, 12))
out.square().mean().backward()
print(out.norm(), sum(p.grad.norm() for p in model.parameters()))
model.eval()
model.reset_buffers()
pieces = [model(torch.ones(1, 3, 4), inference=True) for _ in range(2)]
print(torch.cat(pieces, 2).norm(), TemporalConv1d(2, 3, 3)(torch.ones(1, 2, 5)).shape)
