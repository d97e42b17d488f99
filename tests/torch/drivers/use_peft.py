import peft
from transformers import GPT2Config, GPT2LMHeadModel

import torch

torch.manual_seed(0)
base = GPT2LMHeadModel(
    GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=20, n_positions=16, bos_token_id=0, eos_token_id=1)
)
x = torch.randint(0, 20, (2, 6))
model = peft.get_peft_model(
    base, peft.LoraConfig(r=2, lora_alpha=4, target_modules=["c_attn"], fan_in_fan_out=True, init_lora_weights=False)
)
loss = model(x, labels=x).loss
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
model.print_trainable_parameters()
merged = model.merge_and_unload().eval()
print(merged(x, labels=x).loss.detach(), sorted(peft.PeftType)[:2])
