from local_attention import LocalAttention

import torch

torch.manual_seed(0)
attend = LocalAttention(dim=8, window_size=4, causal=True, look_backward=1, look_forward=0)
q, k, v = (torch.randn(1, 16, 8) for _ in range(3))
print(attend(q, k, v).sum(-1))
