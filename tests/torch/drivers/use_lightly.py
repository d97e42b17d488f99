from lightly.loss import BarlowTwinsLoss, DINOLoss, NegativeCosineSimilarity, NTXentLoss, VICRegLoss
from lightly.models.modules import DINOProjectionHead, SimCLRProjectionHead

import torch

torch.manual_seed(0)
a, b = torch.randn(8, 16, requires_grad=True), torch.randn(8, 16)
h = SimCLRProjectionHead(16, 16, 8)
for L in (
    NTXentLoss(),
    BarlowTwinsLoss(),
    VICRegLoss(),
    NegativeCosineSimilarity(),
    NTXentLoss(memory_bank_size=(32, 8)),
):
    loss = L(h(a), h(b))
    a.grad = None
    loss.backward()
    print(type(L).__name__, f"{loss.item():.5f} {a.grad.abs().sum().item():.5f}")
d = DINOProjectionHead(16, 16, 8, 32)
L = DINOLoss(output_dim=32, warmup_teacher_temp_epochs=2)
print(f"{L([d(a)], [d(a), d(b)], epoch=0).item():.5f}")
