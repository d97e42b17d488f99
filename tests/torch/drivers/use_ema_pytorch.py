from ema_pytorch import EMA

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
ema = EMA(model, beta=0.9, update_after_step=1, update_every=1)
for _ in range(6):
    with torch.no_grad():
        model.weight.add_(0.1)
    ema.update()
print(ema.ema_model.weight)
