from nystrom_attention import Nystromformer

import torch

torch.manual_seed(0)
model = Nystromformer(dim=16, dim_head=8, heads=2, depth=2, num_landmarks=4, pinv_iterations=6)
out = model(torch.randn(2, 10, 16), mask=torch.ones(2, 10, dtype=torch.bool))
out.square().mean().backward()
print(out.norm(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
