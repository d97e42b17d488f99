from transformers import GPT2Config, GPT2LMHeadModel

import torch

torch.manual_seed(0)
config = GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=50, n_positions=32, bos_token_id=0, eos_token_id=1)
model = GPT2LMHeadModel(config).eval()
x = torch.randint(2, 50, (1, 5))
print(model(x, labels=x).loss, model.generate(x, max_new_tokens=5, do_sample=False, pad_token_id=1))
