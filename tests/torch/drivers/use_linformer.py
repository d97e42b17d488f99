from linformer import Linformer

import torch

torch.manual_seed(0)
model = Linformer(dim=16, seq_len=8, depth=1, heads=2, k=4).eval()
print(model(torch.randn(1, 8, 16)).sum(-1))
