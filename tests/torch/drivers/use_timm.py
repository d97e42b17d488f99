import _torchvision_operators  # noqa: F401
import timm

import torch

torch.manual_seed(0)
x = torch.rand(2, 3, 64, 64)
for name, options in (
    ("resnet18", {}),
    ("mobilenetv3_small_050", {}),
    ("vit_tiny_patch16_224", {"img_size": 64}),
    ("convnext_atto", {}),
    ("efficientnet_b0", {}),
    ("swin_tiny_patch4_window7_224", {"img_size": 64, "window_size": 2, "depths": (1, 1, 1, 1), "embed_dim": 24}),
    ("mixer_s32_224", {"img_size": 64}),
):
    model = timm.create_model(name, num_classes=5, **options)
    loss = model(x).square().mean()
    loss.backward()
    print(name, loss.item(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None).item())
    print(model.eval()(x).sum(1).detach())
