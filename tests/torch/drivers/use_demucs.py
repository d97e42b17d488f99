from demucs.demucs import Demucs
from demucs.htdemucs import HTDemucs

import torch

torch.manual_seed(0)
m = Demucs(["a", "b"], channels=4, depth=3, lstm_layers=1)
x = torch.randn(1, 2, 4000)
y = m(x)
y.pow(2).mean().backward()
print(
    tuple(y.shape),
    f"{float(y.abs().mean()):.4g}",
    f"{sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.4g}",
)
m = HTDemucs(
    ["a", "b"], channels=8, t_layers=2, t_heads=2, nfft=512, depth=3, segment=1, samplerate=8000, bottom_channels=32
)
y = m.eval()(torch.randn(1, 2, 8000))
print(tuple(y.shape), f"{float(y.abs().mean()):.4g}")
