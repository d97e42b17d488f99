import esm

import torch

torch.manual_seed(0)
al = esm.Alphabet.from_architecture("ESM-1b")
m = esm.ESM2(num_layers=2, embed_dim=32, attention_heads=4, alphabet=al).eval()
_, _, t = al.get_batch_converter()([("a", "MKTVRQERLK"), ("b", "KALTARQQE")])
o = m(t, repr_layers=[2], return_contacts=True)
print(o["logits"].shape, f"{o['logits'].abs().mean().item():.4f}", o["contacts"].sum())
o["logits"].sum().backward()
