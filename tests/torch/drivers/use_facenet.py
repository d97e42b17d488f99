from facenet_pytorch import InceptionResnetV1

import torch

torch.manual_seed(0)
m = InceptionResnetV1(num_classes=5, classify=True).eval()
y = m(torch.randn(2, 3, 96, 96))
print(y.shape, f"{y.abs().mean().item():.4f}")
y.sum().backward()
