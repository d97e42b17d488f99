"""Fourier transforms, windows and scales of frequencies."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.onnx._graph import DTYPES
from torch.onnx._operators.table import Refusal, check_size, operator


def _numbers(x: Tensor) -> Tensor:
    """(..., 1 or 2) as real or complex numbers."""
    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
    if x.dim() == 0 or x.shape[-1] not in (1, 2):
        raise Refusal(f"of sizes {tuple(x.shape)}: the last one has to be 1 or 2")
    return wide[..., 0] if x.shape[-1] == 1 else torch.view_as_complex(wide.contiguous())


@operator("DFT")
def dft(
    x: Tensor,
    length: Tensor | None = None,
    place: Tensor | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
    opset: int = 20,
) -> Tensor:
    given = axis if opset < 20 else -2 if place is None else int(place)
    dim = given % x.dim()
    if not -x.dim() <= given < x.dim() or dim == x.dim() - 1:
        raise Refusal(f"axis {given} of {x.dim()} dimensions")
    signal = _numbers(x)
    size = None if length is None else int(length)
    if size is not None:
        check_size([size if each == dim else other for each, other in enumerate(x.shape)])
    if onesided and inverse:
        return torch.fft.irfft(signal, size, dim).unsqueeze(-1).to(x.dtype)
    transform = torch.fft.rfft if onesided else torch.fft.ifft if inverse else torch.fft.fft
    return torch.view_as_real(transform(signal, size, dim)).to(x.dtype)


@operator("STFT")
def stft(
    x: Tensor, step: Tensor, window: Tensor | None = None, length: Tensor | None = None, *, onesided: int = 1
) -> Tensor:
    signal, hop = _numbers(x), int(step)
    size = int(length) if length is not None else signal.shape[-1] if window is None else window.shape[0]
    if hop < 1 or not 1 <= size <= signal.shape[-1]:
        raise Refusal(f"frames of {size} every {hop} in {signal.shape[-1]}")
    frames = signal.unfold(-1, size, hop)
    check_size(frames.shape)
    frames = frames if window is None else frames * window.to(frames.real.dtype)
    half = onesided and not signal.is_complex()
    return torch.view_as_real((torch.fft.rfft if half else torch.fft.fft)(frames)).to(x.dtype)


@operator("MelWeightMatrix")
def mel_weights(
    bands: Tensor, length: Tensor, rate: Tensor, lowest: Tensor, highest: Tensor, *, output_datatype: int = 1
) -> Tensor:
    count, rows = check_size([int(bands), int(length) // 2 + 1])
    low, high = (2595 * math.log10(1 + float(each) / 700) for each in (lowest, highest))
    scale = torch.arange(count + 2, dtype=torch.float64) * ((high - low) / (count + 2)) + low
    edges = ((int(length) + 1) * (700 * (10 ** (scale / 2595) - 1)) / int(rate)).floor()
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    places = torch.arange(rows, dtype=torch.float64).unsqueeze(1)
    rising = torch.where(middle > left, (places - left) / (middle - left), (places == middle).to(torch.float64))
    falling = torch.where(right > middle, (right - places) / (right - middle), torch.zeros_like(rising))
    found = torch.where((places >= left) & (places <= middle), rising, torch.zeros_like(rising))
    found = torch.where((places > middle) & (places < right), falling, found)
    return found.to(DTYPES[output_datatype])


def _window(function: Any) -> Any:
    def make(size: Tensor, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
        (count,) = check_size([int(size)])
        return function(count, periodic=bool(periodic), dtype=torch.float64).to(DTYPES[output_datatype])  # type: ignore[no-any-return]

    return make


def _hamming(count: int, periodic: bool, dtype: torch.dtype) -> Tensor:
    return torch.hamming_window(count, periodic, 25 / 46, 21 / 46, dtype=dtype)


operator("HannWindow")(_window(torch.hann_window))
operator("HammingWindow")(_window(_hamming))
operator("BlackmanWindow")(_window(torch.blackman_window))
