from transformers import T5Config, T5ForConditionalGeneration

import torch

torch.manual_seed(0)
config = T5Config(
    vocab_size=40, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0, pad_token_id=0
)
model = T5ForConditionalGeneration(config).eval()
x = torch.randint(2, 40, (2, 6))
loss = model(input_ids=x, labels=x).loss
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
print(model.generate(x, max_new_tokens=4, num_beams=2))
