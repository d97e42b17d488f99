"""Fourier transforms, by those of one dimension that are not of half a spectrum: fft, ifft, rfft."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.onnx._decompositions.table import DECOMPOSITIONS, decomposition

_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@decomposition
def fft_irfft(x: Tensor, n: Any = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Of a half spectrum: the other half is its mirror image, conjugated."""
    if n is None:
        n = 2 * (x.shape[dim] - 1)
    else:
        x = _resized(x, n // 2 + 1, dim)
    mirrored = x.narrow(dim, 1, (n - 1) // 2).flip(dim).conj()
    return torch.fft.ifft(torch.cat([x, mirrored], dim), dim=dim, norm=norm).real


def _resized(x: Tensor, size: Any, dim: int) -> Tensor:
    """The first elements, or zeros behind them."""
    have = x.shape[dim]
    if size < have:
        return x.narrow(dim, 0, size)
    if size == have:
        return x
    axis = dim % x.dim()
    zeros = torch.zeros_like(x.narrow(axis, 0, 1))
    return torch.cat([x, zeros.expand([size - have if each == axis else -1 for each in range(x.dim())])], axis)


@decomposition
def fft_hfft(x: Tensor, n: Any = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The spectrum, real numbers, of half a signal."""
    return torch.fft.irfft(x.conj(), n, dim, _OPPOSITE[norm or "backward"])


@decomposition
def fft_ihfft(x: Tensor, n: Any = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Half of the signal whose spectrum is real."""
    return torch.fft.rfft(x, n, dim, _OPPOSITE[norm or "backward"]).conj()


def _add_several(kind: str, along: str) -> None:
    """`kind` of several dimensions: `kind` along the last (first for what ends real), `along` the others."""
    ends_real = kind in ("irfft", "hfft")

    def transform(x: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
        if dim is None:
            dim = list(range(x.dim())) if s is None else list(range(x.dim() - len(s), x.dim()))
        elif isinstance(dim, int):
            dim = [dim]
        sizes = [None] * len(dim) if s is None else [None if each == -1 else each for each in s]
        if not dim:
            return x
        last = getattr(torch.fft, kind)
        other = getattr(torch.fft, along)
        if not ends_real:
            x = last(x, sizes[-1], dim[-1], norm)
        for axis, size in reversed(list(zip(dim[:-1], sizes[:-1], strict=True))):
            x = other(x, size, axis, norm)
        return last(x, sizes[-1], dim[-1], norm) if ends_real else x

    def plane(x: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
        return transform(x, s, dim, norm)

    DECOMPOSITIONS[f"fft_{kind}n"], DECOMPOSITIONS[f"fft_{kind}2"] = transform, plane


for _kind, _along in (
    ("fft", "fft"), ("ifft", "ifft"), ("rfft", "fft"), ("irfft", "ifft"), ("hfft", "fft"), ("ihfft", "ifft")
):  # fmt: skip
    _add_several(_kind, _along)


def _add_shift(name: str, sign: int) -> None:
    def shift(x: Tensor, dim: Any = None) -> Tensor:
        axes = list(range(x.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
        for axis in axes:
            half = x.shape[axis] // 2
            x = torch.roll(x, half if sign > 0 else -half, axis)
        return x

    DECOMPOSITIONS[name] = shift


_add_shift("fft_fftshift", 1)
_add_shift("fft_ifftshift", -1)


@decomposition
def istft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal of overlapping frames' transforms: added up, over the windows' squares added up."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    shape = torch.ones(width, dtype=x.dtype.to_real()) if window is None else window
    before = (n_fft - width) // 2
    shape = torch.nn.functional.pad(shape, (before, n_fft - width - before))
    batch = x if x.dim() == 3 else x.unsqueeze(0)
    frames = batch.transpose(1, 2)
    half = not return_complex and (onesided is None or onesided)
    frames = torch.fft.irfft(frames, n_fft) if half else torch.fft.ifft(frames[..., :n_fft])
    frames = frames if return_complex else frames.real
    frames = (frames * n_fft**0.5 if normalized else frames) * shape
    total = batch.shape[2]
    end = n_fft + hop * (total - 1)
    signal = _overlapped(frames, n_fft, hop, end)
    weight = _overlapped((shape * shape).expand(1, total, n_fft), n_fft, hop, end)
    first = n_fft // 2 if center else 0
    last = first + length if length is not None else end - n_fft // 2 if center else end
    signal = signal[:, first:last] / weight[:, first:last]
    if length is not None and last > end:
        signal = torch.nn.functional.pad(signal, (0, last - end))
    return signal if x.dim() == 3 else signal.squeeze(0)


def _overlapped(frames: Tensor, width: int, hop: int, end: Any) -> Tensor:
    """(batch, frames, width) -> (batch, end), frames that begin every `hop` elements added."""
    columns = frames.transpose(1, 2)
    return torch.nn.functional.fold(columns, (1, end), (1, width), stride=(1, hop)).reshape(columns.shape[0], end)
