import _torchvision_operators  # noqa: F401
from pytorch_grad_cam import GradCAM, GradCAMPlusPlus, HiResCAM, LayerCAM
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torchcam.methods import SmoothGradCAMpp
from torchvision.models import resnet18

import torch

torch.manual_seed(0)
m = resnet18(num_classes=5).eval()
x = torch.randn(1, 3, 64, 64)
for C in (GradCAM, HiResCAM, GradCAMPlusPlus, LayerCAM):
    with C(model=m, target_layers=[m.layer3[-1]]) as c:
        g = c(input_tensor=x, targets=[ClassifierOutputTarget(2)])
    print(C.__name__, g.shape, f"{g.mean():.3f}")
with SmoothGradCAMpp(m, "layer4", input_shape=(3, 64, 64)) as e:
    o = m(x)
    print(e(0, o)[0].shape)
