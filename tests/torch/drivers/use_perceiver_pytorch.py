from perceiver_pytorch import Perceiver

import torch

torch.manual_seed(0)
options = {
    "num_latents": 8,
    "latent_dim": 16,
    "cross_heads": 1,
    "latent_heads": 2,
    "cross_dim_head": 8,
    "latent_dim_head": 8,
}
model = Perceiver(input_channels=3, input_axis=2, num_freq_bands=3, max_freq=4.0, depth=1, num_classes=4, **options)
out = model.eval()(torch.randn(2, 8, 8, 3))
out.sum().backward()
print(out, sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
