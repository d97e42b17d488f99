from transformers import WhisperConfig, WhisperForConditionalGeneration

import torch

torch.manual_seed(0)
config = WhisperConfig(
    vocab_size=50,
    num_mel_bins=8,
    d_model=16,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=32,
    decoder_ffn_dim=32,
    max_source_positions=20,
    max_target_positions=16,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=1,
)
model = WhisperForConditionalGeneration(config).eval()
features = torch.rand(1, 8, 40)
loss = model(input_features=features, labels=torch.tensor([[3, 4, 5]])).loss
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
