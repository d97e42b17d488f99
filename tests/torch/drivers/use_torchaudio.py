import _torchvision_operators  # noqa: F401
import torchaudio

import torch

torch.manual_seed(0)
wave = torch.randn(1, 4000)
for transform in (
    torchaudio.transforms.MelSpectrogram(8000, n_fft=256, n_mels=20),
    torchaudio.transforms.MFCC(8000, n_mfcc=8, melkwargs={"n_fft": 256, "n_mels": 20}),
    torchaudio.transforms.Resample(8000, 6000),
    torchaudio.transforms.AmplitudeToDB(),
):
    print(type(transform).__name__, transform(wave).mean(), transform(wave).std())
print(torchaudio.functional.highpass_biquad(wave, 8000, 500.0).std())
model = torchaudio.models.Conformer(16, 2, 32, 1, 3)
print(model(torch.randn(1, 10, 16), torch.tensor([10]))[0].mean().detach())
print(
    torchaudio.models.wav2letter.Wav2Letter(num_classes=5, input_type="mfcc", num_features=8)(torch.randn(1, 8, 40))
    .sum()
    .detach()
)
