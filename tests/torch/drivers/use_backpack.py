from backpack import backpack, extend, extensions

import torch

torch.manual_seed(0)
model = extend(
    torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3))
)
loss = extend(torch.nn.CrossEntropyLoss())(model(torch.randn(4, 1, 4, 4)), torch.tensor([0, 1, 2, 0]))
with backpack(
    extensions.BatchGrad(),
    extensions.Variance(),
    extensions.DiagGGNExact(),
    extensions.KFAC(),
    extensions.BatchL2Grad(),
):
    loss.backward()
for p in model.parameters():
    print(p.grad_batch.norm(), p.variance.sum(), p.diag_ggn_exact.sum(), p.batch_l2.sum(), len(p.kfac))
