"""Fourier transforms of real and complex tensors, of one and of several dimensions."""

from torch import _C, Tensor as Tensor
from torch._notes import common_args as common_args, factory_common_args as factory_common_args

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

fft = _C._fft.fft_fft
fft2 = _C._fft.fft_fft2
fftfreq = _C._fft.fft_fftfreq
fftn = _C._fft.fft_fftn
fftshift = _C._fft.fft_fftshift
hfft = _C._fft.fft_hfft
hfft2 = _C._fft.fft_hfft2
hfftn = _C._fft.fft_hfftn
ifft = _C._fft.fft_ifft
ifft2 = _C._fft.fft_ifft2
ifftn = _C._fft.fft_ifftn
ifftshift = _C._fft.fft_ifftshift
ihfft = _C._fft.fft_ihfft
ihfft2 = _C._fft.fft_ihfft2
ihfftn = _C._fft.fft_ihfftn
irfft = _C._fft.fft_irfft
irfft2 = _C._fft.fft_irfft2
irfftn = _C._fft.fft_irfftn
rfft = _C._fft.fft_rfft
rfft2 = _C._fft.fft_rfft2
rfftfreq = _C._fft.fft_rfftfreq
rfftn = _C._fft.fft_rfftn
