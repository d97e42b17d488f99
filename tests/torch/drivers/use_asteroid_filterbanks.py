from asteroid_filterbanks import STFTFB, AnalyticFreeFB, Decoder, Encoder, FreeFB, ParamSincFB, make_enc_dec
from asteroid_filterbanks.griffin_lim import griffin_lim
from asteroid_filterbanks.transforms import apply_mag_mask, mag, reim

import torch

torch.manual_seed(0)
x = torch.randn(2, 1, 800)
for bank in (FreeFB(64, 32), AnalyticFreeFB(64, 32), ParamSincFB(64, 33, sample_rate=8000.0), STFTFB(64, 32)):
    encoder = Encoder(bank)
    y = encoder(x)
    print(type(bank).__name__, tuple(y.shape), f"{y.abs().mean().item():.5f}")
stft, istft = make_enc_dec("stft", n_filters=64, kernel_size=64, stride=16)
spectrum = stft(x)
print(
    f"{(istft(spectrum)[..., 64:-64] - x[..., 64:-64])[..., :600].abs().max().item():.4f}",
    mag(spectrum).shape,
    len(reim(spectrum)),
)
print(apply_mag_mask(spectrum, torch.full_like(mag(spectrum), 0.5)).abs().mean())
print(griffin_lim(mag(spectrum), stft, n_iter=3, angles=torch.zeros_like(mag(spectrum))).shape, Decoder.__name__)
