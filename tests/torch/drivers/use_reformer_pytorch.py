from reformer_pytorch import LSHAttention, LSHSelfAttention, Reformer, ReformerLM

import torch

torch.manual_seed(0)
model = ReformerLM(num_tokens=50, dim=16, depth=2, max_seq_len=64, heads=2, bucket_size=8, n_hashes=2, causal=True)
tokens = torch.randint(50, (1, 64))
out = model(tokens)
out.square().mean().backward()
print(out.shape, f"{out.mean().item():.6f} {model.token_emb.weight.grad.norm().item():.6f}")
layer = LSHSelfAttention(dim=16, heads=2, bucket_size=8, n_hashes=2)
print(layer(torch.randn(1, 32, 16))[0, 0, :4].detach())
print(LSHAttention(bucket_size=8, n_hashes=2)(torch.randn(1, 32, 8), torch.randn(1, 32, 8))[0].shape, Reformer.__name__)
