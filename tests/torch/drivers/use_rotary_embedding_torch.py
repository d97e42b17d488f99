from rotary_embedding_torch import RotaryEmbedding

import torch

torch.manual_seed(0)
rotary = RotaryEmbedding(dim=8)
q = torch.randn(1, 2, 6, 8)
print(rotary.rotate_queries_or_keys(q).sum(-1))
