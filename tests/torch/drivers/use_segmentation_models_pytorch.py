import _torchvision_operators  # noqa: F401
import segmentation_models_pytorch as segmentation

import torch

torch.manual_seed(0)
x, y = torch.rand(2, 3, 64, 64), torch.randint(2, (2, 1, 64, 64))
for kind in (segmentation.Unet, segmentation.FPN, segmentation.DeepLabV3Plus, segmentation.PSPNet, segmentation.MAnet):
    model = kind("resnet18", encoder_weights=None)
    loss = segmentation.losses.DiceLoss("binary")(model(x), y) + segmentation.losses.FocalLoss("binary")(model(x), y)
    loss.backward()
    print(kind.__name__, loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
