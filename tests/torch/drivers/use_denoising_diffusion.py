from denoising_diffusion_pytorch import GaussianDiffusion, Unet

import torch

torch.manual_seed(0)
m = Unet(dim=8, dim_mults=(1, 2), flash_attn=False)
d = GaussianDiffusion(m, image_size=16, timesteps=10, sampling_timesteps=4)
loss = d(torch.rand(2, 3, 16, 16))
loss.backward()
print(f"{loss.item():.5f} {sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.4g}")
print(d.sample(batch_size=1).mean())
