from transformers import LlamaConfig, LlamaForCausalLM

import torch

torch.manual_seed(0)
options = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
model = LlamaForCausalLM(LlamaConfig(**options, intermediate_size=64, vocab_size=50)).eval()
x = torch.randint(2, 50, (1, 6))
result = model(x, labels=x)
result.loss.backward()
print(result.loss, sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
