"""Products of matrices."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.onnx._operators.table import check_size, operator


@operator("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    if a.dim() > 1 and b.dim() > 1:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        check_size([*batch, a.shape[-2], b.shape[-1]])
    return torch.matmul(a, b)


@operator("Gemm")
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 0,
) -> Tensor:
    product = torch.matmul(a.T if transA else a, b.T if transB else b)
    product = product if alpha == 1 else (alpha * product).to(a.dtype)
    return product if c is None else product + (c if beta == 1 else (beta * c).to(a.dtype))


def _wide(x: Tensor, zero: Tensor | None, row: bool = False) -> Tensor:
    wide = x.to(torch.int32)
    if zero is None:
        return wide
    shift = zero.to(torch.int32)
    return wide - (shift.unsqueeze(-1) if row and shift.dim() == 1 else shift)


@operator("MatMulInteger")
def matmul_integer(a: Tensor, b: Tensor, zero_a: Tensor | None = None, zero_b: Tensor | None = None) -> Tensor:
    return torch.matmul(_wide(a, zero_a, True), _wide(b, zero_b))


@operator("QLinearMatMul")
def quantized_matmul(
    a: Tensor, scale_a: Tensor, zero_a: Tensor, b: Tensor, scale_b: Tensor, zero_b: Tensor, scale: Tensor, zero: Tensor
) -> Tensor:
    product = torch.matmul(_wide(a, zero_a, True).double(), _wide(b, zero_b).double())
    left = scale_a.unsqueeze(-1) if scale_a.dim() == 1 else scale_a
    steps = torch.round(product * (left.double() * scale_b.double() / scale.double())) + zero.double()
    limits = torch.iinfo(zero.dtype)
    return steps.clamp(limits.min, limits.max).to(torch.int32).to(zero.dtype)
