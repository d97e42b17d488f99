"""Tensors from nothing, from Python, from NumPy; conversions and type promotion."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_golden import Case

NAMES = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "bool")


def _expression(text: str) -> Case:
    def function(torch: Any) -> Any:
        return eval(text, {"torch": torch, "np": np, "inf": float("inf"), "nan": float("nan")})

    return Case(function, 1e-6, 1e-7)


EXPRESSIONS = (
    "torch.zeros(2, 3)",
    "torch.zeros((2, 3), dtype=torch.int64)",
    "torch.ones([2])",
    "torch.ones(())",
    "torch.full((2, 2), 7)",
    "torch.full((2,), 1.5)",
    "torch.full((2,), True)",
    "torch.full((2,), 3, dtype=torch.float64)",
    "torch.zeros_like(torch.ones(2, 3, dtype=torch.int32))",
    "torch.ones_like(torch.zeros(2), dtype=torch.bool)",
    "torch.full_like(torch.zeros(2), 4)",
    "torch.empty(2, 0)",
    "torch.scalar_tensor(3)",
    "torch.empty_like(torch.zeros(0, 2)), torch.empty_strided((2, 3), (1, 4)).stride()",
    "torch.detach(torch.ones(1, requires_grad=True)), torch.detach_(torch.ones(1))",
    "torch.promote_types(torch.uint8, torch.bool)",
    "torch.arange(5)",
    "torch.arange(5.0)",
    "torch.arange(1, 2.5, 0.5)",
    "torch.arange(10, 0, -3)",
    "torch.arange(3, dtype=torch.float64)",
    "torch.linspace(0, 1, 5)",
    "torch.linspace(-3, 3, 1)",
    "torch.linspace(0, 10, 4, dtype=torch.float64)",
    "torch.eye(3)",
    "torch.eye(2, 3, dtype=torch.int64)",
    "torch.tensor(3)",
    "torch.tensor(3.5)",
    "torch.tensor(True)",
    "torch.tensor([])",
    "torch.tensor([1, 2.5])",
    "torch.tensor([[1, 2], [3, 4]])",
    "torch.tensor([True, 2])",
    "torch.tensor([[1.0], [2.0]], dtype=torch.float64)",
    "torch.tensor(np.arange(3))",
    "torch.tensor(np.float32(2.5))",
    "torch.tensor([np.int64(2), 3])",
    "torch.tensor([torch.tensor(1), torch.tensor(2)])",
    "torch.tensor(range(4))",
    "torch.tensor((1, 2))",
    "torch.as_tensor([1.5, 2.5])",
    "torch.as_tensor(np.array([1, 2], dtype=np.int32))",
    "torch.from_numpy(np.array([[1.0, 2.0]]).T)",
    "torch.from_numpy(np.arange(6)[::2])",
    "torch.Tensor([1, 2])",
    "torch.Tensor(2, 0)",
    "torch.tensor([1, 2]).new_zeros(2, 2)",
    "torch.tensor([1.5]).new_tensor([1, 2])",
    "torch.tensor([1, 2]).new_full((2,), 3)",
    "torch.tensor([1, 2]).new_ones((2,), dtype=torch.float64)",
    "torch.tensor([inf, -inf, nan, 0.0])",
    "torch.tensor([1.7, -1.7, 300.0]).int()",
    "torch.tensor([1.7, -1.7]).long()",
    "torch.tensor([0.0, 0.5, nan]).bool()",
    "torch.tensor([1, 0, 300]).to(torch.uint8)",
    "torch.tensor([1, 2]).float()",
    "torch.tensor([1, 2]).double()",
    "torch.tensor([True]).to(torch.float32)",
    "torch.tensor([1, 2]).to(torch.zeros(1))",
    "torch.tensor([1.5]).type(torch.float64)",
    "torch.tensor([1.5, 2.5]).view(torch.int32)",
    "torch.tensor([1.5]).item()",
    "torch.tensor(7).item()",
    "torch.tensor([[True]]).item()",
    "torch.arange(6).reshape(2, 3).tolist()",
    "torch.tensor(2.5).tolist()",
    "list(torch.zeros(2, 3).shape), torch.zeros(2, 3).stride(), torch.zeros(2, 3).t().stride()",
    "torch.zeros(2, 3).numel(), torch.zeros(2, 3).dim(), torch.zeros(2, 3).nbytes, torch.zeros(2, 3).itemsize",
    "torch.zeros(2, 3).is_contiguous(), torch.zeros(2, 3).t().is_contiguous()",
    "repr(torch.zeros(2, 3).shape), repr(torch.Size([1, 2]) + torch.Size([3])), torch.Size([2, 3]).numel()",
    "repr(torch.Size([1, 2, 3])[1:]), torch.Size([1, 2]) == (1, 2)",
    "repr(torch.device('cuda:1')), str(torch.device('cuda', 1)), repr(torch.device('cpu')), torch.device('cpu').index",
    "torch.device('cpu') == torch.device('cpu'), torch.device('cuda:0') == torch.device('cuda:1')",
    "repr(torch.float32), str(torch.int64), torch.float32.is_floating_point, torch.int32.is_signed",
    "torch.float64.itemsize, torch.bool.is_signed, torch.int32.is_floating_point, torch.float32.is_complex",
    "repr(torch.double), repr(torch.long), repr(torch.int), repr(torch.float)",
    "repr(torch.strided), repr(torch.contiguous_format), repr(torch.get_default_dtype())",
    "[str(torch.tensor(1) + x) for x in (1, 1.5, True)]",
    "(torch.tensor([1], dtype=torch.uint8) + 300).dtype.itemsize",
    "(torch.tensor([1.0], dtype=torch.float32) * 2.0)",
    "torch.tensor([1]) / 2",
    "torch.tensor([7, -7]) // 2, torch.tensor([7, -7]) % 3, torch.tensor([7.5, -7.5]) // 2",
    "2 - torch.tensor([1, 2]), 2 / torch.tensor([1, 2]), 2 ** torch.tensor([1, 2])",
    "7 // torch.tensor([2]), 7 % torch.tensor([4])",
    "torch.tensor([1, 2]) ** 2, torch.tensor([1.0, 2.0]) ** 0.5, -torch.tensor([1])",
    "+torch.tensor([1]), abs(torch.tensor([-1]))",
    "torch.tensor([1, 2]) & 3, 1 | torch.tensor([2]), torch.tensor([1]) ^ 3, ~torch.tensor([True, False])",
    "torch.tensor([1, 2]) == 2, torch.tensor([1, 2]) != None, torch.tensor([1, 2]) < 1.5, 1 >= torch.tensor([1, 2])",
    "torch.eye(2) @ torch.ones(2, 1), torch.ones(2) @ torch.ones(2)",
    "bool(torch.tensor([1])), int(torch.tensor([2.7])), float(torch.tensor(3)), [10, 20][torch.tensor(1)]",
    "2 in torch.tensor([1, 2]), 3 in torch.tensor([1, 2])",
    "[x.item() for x in torch.tensor([1, 2])], len(torch.zeros(3, 2))",
    "f'{torch.tensor(1.23456):.2f}', format(torch.tensor(3), 'd')",
    "np.asarray(torch.tensor([1, 2])).tolist(), np.add(torch.tensor([1.0]).numpy(), 1).tolist()",
    "torch.zeros(2, 3, device='meta').shape.numel(), str(torch.zeros(2, device='meta').device)",
    "(torch.zeros(2, 1, device='meta') + torch.zeros(3, device='meta')).stride()",
    "torch.finfo(torch.float32).eps, torch.finfo(torch.float64).max, torch.finfo(torch.float32).tiny",
    "[repr(torch.finfo(d)) for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]",
    "[repr(torch.iinfo(d)) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]",
    "torch.is_tensor(torch.zeros(1)), torch.is_tensor(1), torch.is_floating_point(torch.zeros(1))",
    "torch.numel(torch.zeros(2, 3)), torch.is_nonzero(torch.ones(1))",
    "torch.einsum('bij,bjk->bik', torch.ones(2, 3, 4), torch.ones(2, 4, 5))",
    "torch.einsum('ii->i', torch.arange(9.0).reshape(3, 3)), torch.einsum('i,j', torch.arange(3.0), torch.arange(2.0))",
    "torch.einsum('ij->j', torch.arange(6.0).reshape(2, 3))",
    "torch.einsum('ij,ij->', torch.ones(2, 3), torch.ones(2, 3))",
    "torch.einsum('ij,jk,kl->il', torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 5))",
    "list(torch.broadcast_shapes((2, 1), (3,), ()))",
    "torch.arange(6).unflatten(0, (2, 3))",
    "torch.tril_indices(3, 4, 1), torch.triu_indices(3, 3)",
    "torch.nan_to_num(torch.tensor([nan, inf, -inf, 1.0])), torch.tensor([nan, inf]).nan_to_num(2, 3)",
    "torch.typename(torch.ones(1)), torch.typename(1), torch.arange(3).roll(1), torch.ones(2, 2).trace()",
    "torch.zeros(2).absolute_(), torch.tensor([4.0]).multiply(2)",
    "torch.subtract(torch.tensor(3), 1), torch.concat([torch.ones(1)] * 2)",
    "torch.add(torch.ones(2), 1, out=torch.empty(2))",
    "[torch.max(torch.tensor([[1, 5], [7, 2]]), 1).indices, torch.sort(torch.tensor([3, 1, 2])).values]",
    "repr(torch.max(torch.tensor([[1, 5]]), 1)), repr(type(torch.zeros(2).sort()).__name__)",
    "torch.zeros(3).set_(torch.arange(4.0).untyped_storage(), 1, (2,), (2,))",
    "torch.zeros(2)._version, torch.zeros(2).add_(1)._version",
)


def _promotion(torch: Any) -> Any:
    dtypes = [getattr(torch, name) for name in NAMES]
    return {f"{a}+{b}": str(torch.promote_types(a, b)) for a in dtypes for b in dtypes}


def _mixed(torch: Any) -> Any:
    """Tensor with tensor, with a 0-d tensor, with a number of each kind."""
    answer = {}
    for a in NAMES:
        one = torch.ones(2, dtype=getattr(torch, a))
        for b in NAMES:
            other = torch.ones((), dtype=getattr(torch, b))
            answer[f"{a} 0-d {b}"] = str((one * other).dtype)
            answer[f"{a} 1-d {b}"] = str((one * torch.ones(2, dtype=getattr(torch, b))).dtype)
        for number in (True, 1, 1.0):
            answer[f"{a} {number!r}"] = str((one * number).dtype)
            answer[f"{a} / {number!r}"] = str((one / number).dtype)
        for name in ("sum", "prod", "cumsum"):
            arguments = (0,) if name == "cumsum" else ()
            answer[f"{name} {a}"] = str(getattr(one, name)(*arguments).dtype)
    return answer


def _casts(torch: Any) -> Any:
    values = torch.tensor([0.0, 1.0, 2.5, 100.0], dtype=torch.float64)
    return {f"{a} {b}": values.to(getattr(torch, a)).to(getattr(torch, b)) for a in NAMES for b in NAMES}


CASES: dict[str, Case] = {text: _expression(text) for text in EXPRESSIONS}
CASES["promotion"] = Case(_promotion)
CASES["mixed"] = Case(_mixed)
CASES["casts"] = Case(_casts)
