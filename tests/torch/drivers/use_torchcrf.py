from torchcrf import CRF

import torch

torch.manual_seed(0)
model = CRF(4, batch_first=True)
scores, tags = torch.randn(2, 5, 4), torch.randint(4, (2, 5))
mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.uint8)
loss = -model(scores, tags, mask=mask, reduction="mean")
loss.backward()
print(loss.detach(), model.transitions.grad.norm(), model.decode(scores, mask=mask))
