import diffusers

import torch

torch.manual_seed(0)
model = diffusers.UNet2DModel(
    sample_size=16,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(32, 64),
    norm_num_groups=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
noise = torch.randn(1, 3, 16, 16)
for kind in (
    diffusers.DDPMScheduler,
    diffusers.DDIMScheduler,
    diffusers.DPMSolverMultistepScheduler,
    diffusers.EulerDiscreteScheduler,
):
    scheduler = kind(num_train_timesteps=100)
    scheduler.set_timesteps(3)
    sample = noise * scheduler.init_noise_sigma
    generator = torch.Generator().manual_seed(0)
    for step in scheduler.timesteps:
        with torch.no_grad():
            predicted = model(scheduler.scale_model_input(sample, step), step).sample
        options = {} if kind is diffusers.DPMSolverMultistepScheduler else {"generator": generator}
        sample = scheduler.step(predicted, step, sample, **options).prev_sample
    print(kind.__name__, sample.mean(), sample.std())
vae = diffusers.AutoencoderKL(block_out_channels=(32,), norm_num_groups=8, latent_channels=2)
print(vae(torch.rand(1, 3, 16, 16)).sample.mean().detach())
