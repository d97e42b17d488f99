import _torchvision_operators  # noqa: F401
import torchvision

import torch

torch.manual_seed(0)
x = torch.rand(1, 3, 64, 64)
for name in ("resnet18", "mobilenet_v2", "squeezenet1_1", "shufflenet_v2_x0_5", "regnet_y_400mf"):
    model = torchvision.models.get_model(name, num_classes=4).eval()
    print(name, model(x).detach())
augment = torchvision.transforms.Compose(
    [torchvision.transforms.RandomCrop(48), torchvision.transforms.RandomHorizontalFlip()]
)
print(augment(x).mean())
