from performer_pytorch import SelfAttention

import torch

torch.manual_seed(0)
attend = SelfAttention(dim=16, heads=2, causal=False, dim_head=8).eval()
print(attend(torch.randn(1, 6, 16)).sum(-1))
