"""torch.fft against the sum that defines it, for lengths of every kind; and signals that come back."""

from __future__ import annotations

from typing import Any

import pytest
from op_sample import check_gradient

import torch
from torch import fft

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 30, 61, 64, 67, 97, 100, 131, 256, 337, 1000)


def _close(actual: Any, expected: Any, eps: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=eps, atol=eps)


def _by_definition(x: Any, inverse: bool = False) -> Any:
    n = x.shape[-1]
    places = torch.arange(n, dtype=torch.float64)
    turns = torch.outer(places, places) % n * (2 * torch.pi / n)
    return x.to(torch.complex128) @ torch.polar(torch.ones_like(turns), turns if inverse else -turns)


@pytest.mark.parametrize("n", LENGTHS)
def test_any_length(n: int) -> None:
    torch.manual_seed(n)
    x, z = torch.randn(3, n, dtype=torch.float64), torch.randn(3, n, dtype=torch.complex128)
    _close(fft.fft(z), _by_definition(z), 1e-10)
    _close(fft.ifft(z), _by_definition(z, inverse=True) / n, 1e-10)
    _close(fft.fft(x), _by_definition(x), 1e-10)
    _close(fft.ifft(x), _by_definition(x, inverse=True) / n, 1e-10)
    _close(fft.fft(x, dim=0), fft.fft(x.to(torch.complex128), dim=0))
    _close(fft.rfft(x), _by_definition(x)[:, : n // 2 + 1], 1e-10)
    _close(fft.irfft(fft.rfft(x), n), x)
    _close(fft.ihfft(x), _by_definition(x, inverse=True)[:, : n // 2 + 1] / n, 1e-10)
    _close(fft.hfft(fft.ihfft(x), n), x)
    single = fft.fft(z.to(torch.complex64))
    _close(single.to(torch.complex128), fft.fft(z), 1e-6 * n**0.5)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_inverses_in_several_dimensions(norm: str | None) -> None:
    torch.manual_seed(0)
    x, z = torch.randn(4, 6, 5, dtype=torch.float64), torch.randn(4, 6, 5, dtype=torch.complex128)
    for dims in ((0,), (2, 0), (0, 1, 2), (-1, -3)):
        sizes = [x.shape[dim] for dim in dims]
        _close(fft.ifftn(fft.fftn(z, dim=dims, norm=norm), dim=dims, norm=norm), z)
        _close(fft.irfftn(fft.rfftn(x, dim=dims, norm=norm), sizes, dims, norm), x)
        _close(fft.hfftn(fft.ihfftn(x, dim=dims, norm=norm), sizes, dims, norm), x)
    _close(fft.ifft2(fft.fft2(z, norm=norm), norm=norm), z)
    _close(fft.irfft2(fft.rfft2(x, norm=norm), (6, 5), norm=norm), x)
    _close(fft.hfft2(fft.ihfft2(x, norm=norm), (6, 5), norm=norm), x)


@pytest.mark.parametrize(
    "function",
    [
        fft.fft,
        fft.ifft,
        fft.irfft,
        fft.hfft,
        fft.fftn,
        fft.irfftn,
        fft.hfftn,
        lambda z: fft.irfft(z, 5),
        lambda z: fft.irfft(z, 9),
    ],
)
def test_gradients_of_complex_inputs(function: Any) -> None:
    torch.manual_seed(0)
    check_gradient(function, torch.randn(3, 4, dtype=torch.complex128))


@pytest.mark.parametrize(
    "function", [fft.rfft, fft.ihfft, fft.rfftn, fft.ihfftn, lambda x: fft.rfft(x, 5), lambda x: fft.rfft(x, 3, 0)]
)
def test_gradients_of_real_inputs(function: Any) -> None:
    torch.manual_seed(0)
    check_gradient(function, torch.randn(3, 4, dtype=torch.float64))


def test_signals_come_back_from_their_frames() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 50, dtype=torch.float64)
    window = torch.rand(8, dtype=torch.float64) + 0.5
    for options in (
        {},
        {"hop_length": 2, "win_length": 6, "window": window[:6]},
        {"window": window, "normalized": True},
    ):
        frames = torch.stft(x, 8, return_complex=True, **options)
        _close(torch.istft(frames, 8, length=50, **options), x)
    z = torch.randn(50, dtype=torch.complex128)
    frames = torch.stft(z, 8, window=window)
    _close(torch.istft(frames, 8, window=window, length=50, return_complex=True), z)
    assert torch.stft(x, 8, return_complex=False).shape == (2, 5, 26, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: fft.fft(torch.ones(2).half()), RuntimeError, "Unsupported dtype Half"),
        (lambda: fft.fft(torch.ones(0)), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda: fft.rfft(torch.ones(2) + 0j), RuntimeError, "rfft expects a real input tensor"),
        (lambda: fft.fft(torch.ones(2), norm="half"), RuntimeError, 'Invalid normalization mode: "half"'),
        (lambda: fft.fftn(torch.ones(2, 2), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda: fft.fftn(torch.ones(2, 2), s=(1,), dim=(0, 1)), RuntimeError, "must have the same length"),
        (lambda: fft.irfft(torch.ones(1)), RuntimeError, "Invalid number of data points"),
        (lambda: fft.fft(torch.ones(2), dim=3), IndexError, "Dimension out of range"),
        (lambda: torch.stft(torch.ones(9), 4), RuntimeError, "return_complex parameter"),
        (lambda: torch.istft(torch.ones(3, 4), 4), RuntimeError, "requires a complex-valued input"),
    ],
)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
