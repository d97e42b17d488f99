import _torchvision_operators  # noqa: F401
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT

import torch

torch.manual_seed(0)
x = torch.rand(2, 3, 16, 16)
options = {"image_size": 16, "patch_size": 4, "num_classes": 3, "dim": 16, "heads": 2, "mlp_dim": 32}
for model in (ViT(depth=2, **options), SimpleViT(depth=2, **options), CaiT(depth=1, cls_depth=1, **options)):
    loss = model(x).square().mean()
    loss.backward()
    print(type(model).__name__, loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
