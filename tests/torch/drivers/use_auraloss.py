import auraloss

import torch

torch.manual_seed(0)
x = torch.randn(2, 1, 4096)
y = x + 0.1 * torch.randn(2, 1, 4096)
for loss in (
    auraloss.time.SISDRLoss(),
    auraloss.time.ESRLoss(),
    auraloss.time.LogCoshLoss(),
    auraloss.time.SNRLoss(),
    auraloss.freq.STFTLoss(),
    auraloss.freq.MultiResolutionSTFTLoss(fft_sizes=[256, 512], hop_sizes=[64, 128], win_lengths=[256, 512]),
    auraloss.freq.STFTLoss(w_phs=0.0, w_lin_mag=1.0),
):
    x.requires_grad_()
    value = loss(x, y)
    (gradient,) = torch.autograd.grad(value, x)
    print(type(loss).__name__, f"{value.item():.5f} {gradient.abs().sum().item():.4f}")
print(auraloss.perceptual.FIRFilter(fs=44100, filter_type="aw")(x.detach(), y)[0].shape)
