"""x_clip: a contrastive loss of texts and images, and its gradient."""

import _torchvision_operators  # noqa: F401
from x_clip import CLIP

import torch

torch.manual_seed(0)
clip = CLIP(
    dim_text=32,
    dim_image=32,
    dim_latent=16,
    num_text_tokens=50,
    text_enc_depth=1,
    text_seq_len=8,
    text_heads=2,
    visual_enc_depth=1,
    visual_image_size=16,
    visual_patch_size=8,
    visual_heads=2,
    visual_patch_dropout=0.0,
)
text, images = torch.randint(0, 50, (3, 8)), torch.randn(3, 3, 16, 16)
loss = clip(text, images, freeze_image_encoder=False, return_loss=True)
loss.backward()
print(f"{loss.item():.4f} {sum(p.grad.abs().sum().item() for p in clip.parameters() if p.grad is not None):.3f}")
