from x_transformers import Decoder, TransformerWrapper

import torch

torch.manual_seed(0)
layers = Decoder(dim=16, depth=2, heads=2, attn_dim_head=8)
model = TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=layers).eval()
out = model(torch.randint(0, 20, (1, 10)))
out.sum().backward()
print(out.sum(-1), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
