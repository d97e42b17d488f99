from nnAudio.features import STFT, CQT1992v2, MelSpectrogram

import torch

torch.manual_seed(0)
x = torch.randn(1, 8000)
for f in (
    STFT(n_fft=256, hop_length=64, output_format="Magnitude", verbose=False),
    MelSpectrogram(sr=8000, n_fft=256, n_mels=20, verbose=False),
    CQT1992v2(sr=8000, n_bins=24, fmin=220, verbose=False),
):
    y = f(x)
    print(type(f).__name__, tuple(y.shape), f"{float(y.sum()):.5g}")
