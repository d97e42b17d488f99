"""Gradients of functions of complex numbers, against differences of their parts."""

from __future__ import annotations

from typing import Any

import pytest
from op_sample import check_gradient

import torch
from torch import linalg

torch.manual_seed(0)
Z, W = torch.randn(3, 4, dtype=torch.complex128), torch.randn(3, 4, dtype=torch.complex128)
MASK = Z.real > 0
FACTORS = {"beta": 1j, "alpha": 2 - 1j}

FUNCTIONS: dict[str, Any] = {
    **{
        name: getattr(torch, name)
        for name in (
            *("abs", "angle", "conj", "cos", "exp", "expm1", "imag", "log", "log10", "log1p", "log2", "mean", "neg"),
            *("norm", "prod", "real", "reciprocal", "rsqrt", "sgn", "sigmoid", "sin", "sqrt", "square", "std", "sum"),
            *("tanh", "tril", "var", "view_as_real"),
        )
    },
    "silu": torch.nn.functional.silu,
    "cumsum": lambda z: torch.cumsum(z, 0),
    "logsumexp": lambda z: torch.logsumexp(z, 1),
    "prod along": lambda z: z.prod(1),
    "square by pow": lambda z: z**2,
    "root by pow": lambda z: z**0.5,
    "power": lambda z: z**W,
    "exponent": lambda z: W**z,
    "product": lambda z: z * W,
    "quotient": lambda z: W / z,
    "addcmul": lambda z: torch.addcmul(z, z, W, value=1j),
    "addcdiv": lambda z: torch.addcdiv(z, W, z, value=1j),
    "lerp": lambda z: torch.lerp(z, W, 0.3),
    "where": lambda z: torch.where(MASK, z, W),
    "masked_fill": lambda z: z.masked_fill(MASK, 1j),
    "index": lambda z: z[[0, 0, 2]],
    "gather": lambda z: torch.gather(z, 1, torch.tensor([[0, 1], [2, 3], [1, 1]])),
    "polar": lambda z: torch.polar(z.abs(), z.angle()),
    "complex": lambda z: torch.complex(z.imag, z.real),
    "matmul": lambda z: z @ W.mT,
    "vdot first": lambda z: torch.vdot(z.flatten(), W.flatten()),
    "vdot second": lambda z: torch.vdot(W.flatten(), z.flatten()),
    "einsum": lambda z: torch.einsum("ij,kj->ik", z, W),
    "addmm": lambda z: torch.addmm(z[:3, :3], z, W.mT, **FACTORS),
    "addmv": lambda z: torch.addmv(z[:, 0], z, W[0], **FACTORS),
    "addr": lambda z: torch.addr(z, W[:, 0], z[0], **FACTORS),
    "baddbmm": lambda z: torch.baddbmm(W[None, :3, :3], z[None], W.mT[None], **FACTORS),
    "kron": lambda z: torch.kron(z, W),
    "outer": lambda z: torch.outer(z[0], W[0]),
    "linear": lambda z: torch.nn.functional.linear(z, W),
    "conv1d": lambda z: torch.nn.functional.conv1d(z[None], W[None, :, :2]),
    "cross": lambda z: linalg.cross(z.mT, W.mT),
    "multi_dot": lambda z: linalg.multi_dot([z, W.mT, z]),
    "vecdot": lambda z: linalg.vecdot(z, W),
    "vander": lambda z: linalg.vander(z[0]),
    "stft": lambda z: torch.stft(z.flatten(), 4, return_complex=True),
    **{f"norm {p}": lambda z, p=p: linalg.vector_norm(z, p) for p in (1, 3, -1, float("inf"))},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name: str) -> None:
    check_gradient(FUNCTIONS[name], Z)
