from pytorch_metric_learning import losses, miners

import torch

torch.manual_seed(0)
x = torch.randn(12, 5, requires_grad=True)
y = torch.arange(12) % 4
for kind in (losses.TripletMarginLoss(), losses.ContrastiveLoss(), losses.NTXentLoss(), losses.MultiSimilarityLoss()):
    loss = kind(x, y)
    print(type(kind).__name__, loss, torch.autograd.grad(loss, x)[0].norm())
print(losses.TripletMarginLoss()(x, y, miners.BatchHardMiner()(x, y)))
