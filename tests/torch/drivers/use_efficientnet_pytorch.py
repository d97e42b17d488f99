from efficientnet_pytorch import EfficientNet

import torch

torch.manual_seed(0)
model = EfficientNet.from_name("efficientnet-b0", num_classes=4)
loss = model(torch.rand(2, 3, 64, 64)).square().mean()
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters()))
