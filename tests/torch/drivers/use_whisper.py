import whisper
from whisper.model import ModelDimensions, Whisper
from whisper.timing import median_filter

import torch

torch.manual_seed(0)
m = Whisper(
    ModelDimensions(
        n_mels=20,
        n_audio_ctx=50,
        n_audio_state=32,
        n_audio_head=4,
        n_audio_layer=2,
        n_vocab=51865,
        n_text_ctx=32,
        n_text_state=32,
        n_text_head=4,
        n_text_layer=2,
    )
)
torch.nn.init.normal_(m.decoder.positional_embedding, std=0.02)
x = torch.randn(1, 20, 100)
t = torch.randint(0, 1000, (1, 8))
y = m(x, t)
y.pow(2).mean().backward()
print(
    tuple(y.shape),
    f"{float(y.abs().mean()):.4g}",
    f"{sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.4g}",
)
print(whisper.log_mel_spectrogram(torch.randn(16000)).mean())
o = whisper.decode(
    m, x[0], whisper.DecodingOptions(language="en", without_timestamps=True, sample_len=5, fp16=False, beam_size=2)
)
print(len(o.tokens), o.tokens)

print(median_filter(torch.randn(2, 9), 3).sum())
