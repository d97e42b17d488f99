"""Every element type: its facts, how it meets the others, and what operators make of the small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_golden import Case

from torch_cases.creation import NAMES

INTEGERS = ("uint8", "int8", "int16")
REDUCED = ("float16", "bfloat16")

INTEGER_EXPRESSIONS = (
    "x + x, x * 3, x - 100, -x, x + 2.5, x / 2, x // 3, x % 3, x ** 3",
    "x.add(x, alpha=3), x * x, x.square(), x.abs(), x.sign(), x.clamp(-2, 5), ~x, x & 6, x | 1, x ^ 3",
    "x.sum(), x.prod(), x.mean(dtype=torch.float32), x.sum(dtype=x.dtype), x.cumsum(0), x.cumsum(0, dtype=x.dtype)",
    "x.max(), x.min(), x.argmax(), x.argmin(), x.amax(), x.reshape(2, 3).max(1), x.reshape(2, 3).min(0)",
    "x.sort(), x.sort(descending=True), x.topk(3), x.unique(), x.nonzero(), x.flip(0)",
    "x == 3, x < 3, x >= 2.5, x.bool(), x.logical_not(), (x != 0).all(), x.any()",
    "x.float(), x.half(), x.to(torch.bfloat16), x.long(), x.int(), x.byte(), x.char(), x.short(), x.double()",
    "x[torch.tensor([0, 3])], x.gather(0, torch.tensor([1, 1])), x.index_select(0, torch.tensor([2]))",
    "x.scatter(0, torch.tensor([1, 2]), 7), x.scatter_add(0, torch.tensor([1, 1]), x[:2]), x.masked_fill(x > 3, 1)",
    "torch.where(x > 3, x, -x), torch.cat([x, x]), torch.stack([x, x]), x.reshape(2, 3).t(), x.repeat(2)",
    "x.reshape(2, 3) @ x.reshape(3, 2), x.reshape(1, 2, 3).bmm(x.reshape(1, 3, 2)), x.dot(x)",
    "torch.arange(5, dtype=x.dtype), torch.linspace(0, 10, 5, dtype=x.dtype), torch.full((2,), 3, dtype=x.dtype)",
    "torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype), torch.eye(2, dtype=x.dtype)",
    "torch.zeros(5, dtype=x.dtype).random_()",
    "torch.randint(0, 100, (5,), dtype=x.dtype), torch.randperm(9, dtype=x.dtype)",
    "torch.zeros(5, dtype=x.dtype).random_(0, 1000)",
    "torch.full((2,), 40000, dtype=x.dtype)",
    "x.clone().fill_(-200)",
    "torch.tensor([300.0, -1.5, 1e20, -200.0, 40000.0]).to(x.dtype)",
    "torch.tensor([70000, -70000, 200]).to(x.dtype)",
    "x // 0",
    "x.numpy().dtype.name, torch.from_numpy(x.numpy() + 1), torch.tensor(x.numpy()), x.tolist(), x[0].item()",
    "repr(x), str(x[0]), x.type(), x.element_size(), repr(x.storage().dtype)",
    "x.exp().dtype, x.sqrt(), x.sigmoid(), torch.true_divide(x, 4)",
    "x.view(torch.uint8).shape, x.bernoulli_(0.5)",
)

REDUCED_EXPRESSIONS = (
    "x + x, x * 3, x - 100, -x, x + 1e6, x / 3, x // 2, x % 3, x ** 2, x ** 0.5, 1 / x, 2.0 - x",
    "x.add(x, alpha=0.1), x * 0.1, x.mul(x), x + torch.tensor(0.1), x + torch.ones(6), x + torch.arange(6)",
    "x.exp(), x.log(), x.sqrt(), x.rsqrt(), x.sin(), x.cos(), x.tanh(), x.sigmoid(), x.erf(), x.log1p(), x.expm1()",
    "x.floor(), x.ceil(), x.round(), x.trunc(), x.abs(), x.sign(), x.neg(), x.reciprocal(), x.square(), x.relu()",
    "x.sum(), x.mean(), x.prod(), x.var(), x.std(), x.norm()",
    "x.cumsum(0), x.reshape(2, 3).sum(1), x.sum(dtype=torch.float32)",
    "torch.full((3000,), 1.0, dtype=x.dtype).sum(), torch.full((3, 1000), 0.1, dtype=x.dtype).mean(1)",
    "x.max(), x.min(), x.argmax(), x.amax(), x.reshape(2, 3).max(1), x.reshape(2, 3).min(0), x.clamp(0.1, 0.7)",
    "x.sort(), x.sort(descending=True), x.topk(2), x.unique(), x.nonzero(), x.flip(0)",
    "x == 0.1, x < 0.1, x > 0.1, x >= x, x.isnan(), x.isfinite(), x.logical_not(), x.bool(), x.any(), x.all()",
    "x.float(), x.half(), x.bfloat16(), x.double(), (x * 100).long(), (x * 100).byte(), (x * 100).char(), x.int()",
    "x[torch.tensor([0, 3])], x.gather(0, torch.tensor([1, 1])), x.index_select(0, torch.tensor([2]))",
    "x.scatter(0, torch.tensor([1, 2]), 7), x.scatter_add(0, torch.tensor([1, 1]), x[:2]), x.masked_fill(x > 0.3, 1.5)",
    "torch.where(x > 0.3, x, -x), torch.cat([x, x]), torch.stack([x, x]), x.reshape(2, 3).t(), x.repeat(2)",
    "x.reshape(2, 3) @ x.reshape(3, 2), x.reshape(1, 2, 3).bmm(x.reshape(1, 3, 2)), x.dot(x)",
    "torch.addmm(torch.ones(2, 2, dtype=x.dtype), x.reshape(2, 3), x.reshape(3, 2), beta=2, alpha=0.5)",
    "x.softmax(0), x.log_softmax(0), torch.nn.functional.gelu(x), torch.nn.functional.silu(x), torch.lerp(x, -x, 0.3)",
    "torch.nn.functional.layer_norm(x.reshape(2, 3), (3,)), torch.nn.functional.mse_loss(x, -x)",
    "torch.nn.functional.cross_entropy(x.reshape(2, 3), torch.tensor([0, 2]))",
    "torch.nn.functional.conv1d(x.reshape(1, 2, 3), x[:4].reshape(1, 2, 2))",
    "torch.nn.functional.linear(x[:2], x.reshape(3, 2))",
    "torch.arange(0, 2, 0.3, dtype=x.dtype)",
    "torch.linspace(0, 1, 7, dtype=x.dtype), torch.full((2,), 0.1, dtype=x.dtype)",
    "torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype)",
    "torch.eye(2, dtype=x.dtype), torch.empty(2, dtype=x.dtype).dtype",
    "torch.rand(40, dtype=x.dtype), torch.zeros(5, dtype=x.dtype).uniform_(-1, 2)",
    "torch.zeros(5, dtype=x.dtype).random_(0, 100), torch.zeros(5, dtype=x.dtype).bernoulli_(0.5)",
    "torch.randn(5, dtype=x.dtype), x.clamp(0, 1).bernoulli()",
    "torch.full((2,), 1e39, dtype=x.dtype)",
    "x.clone().fill_(1e39)",
    "torch.tensor([1e6, 65519.0, 65520.0, 1e-8, 6e-8, 3e-5, float('nan'), float('-inf')], dtype=x.dtype)",
    "torch.tensor([1, 2049, 70000]).to(x.dtype), torch.tensor([True, False]).to(x.dtype)",
    "x.tolist(), x[1].item(), torch.tensor(1.1, dtype=x.dtype).item(), float(x[1])",
    "repr(x), str(x[1]), repr(x * 1000), x.type(), x.element_size(), repr(x.storage().dtype)",
    "torch.finfo(x.dtype).eps, torch.finfo(x.dtype).max, torch.finfo(x.dtype).tiny, torch.finfo(x.dtype).resolution",
    "x.clone().add_(1), x.clone().mul_(0.1), x.clone().clamp_(0.2, 0.3)",
    "x.clone().zero_(), torch.add(x, 1, out=torch.empty(6, dtype=x.dtype))",
    "x.view(torch.int16), x.t().is_contiguous(), x[::2] + x[1::2], x.reshape(2, 3).t() * 2",
    "(lambda y: (y.square().sum().backward(), y.grad))(x.clone().requires_grad_())[1]",
    "(lambda y: ((y.reshape(2, 3) @ y.reshape(3, 2)).sum().backward(), y.grad))(x.clone().requires_grad_())[1]",
    "(lambda y: (torch.nn.functional.cross_entropy(y.reshape(2, 3), torch.tensor([0, 2])).backward(), y.grad))"
    "(x.clone().requires_grad_())[1]",
)
HALF_EXPRESSIONS = (
    "x.numpy().dtype.name, torch.from_numpy(x.numpy()), torch.tensor(x.numpy()), torch.tensor(np.float16(1.1))",
)


def _of(kind: str, text: str) -> Case:
    def function(torch: Any) -> Any:
        if kind in INTEGERS:
            x = torch.tensor([0, 1, 2, 3, 100, 127]).to(getattr(torch, kind))
        else:
            x = torch.tensor([0.5, 0.1, 2.0, 0.375, 0.7, 3.0]).to(getattr(torch, kind))
        return eval(text, {"torch": torch, "np": np, "x": x})

    tolerance = {"float16": 1e-3, "bfloat16": 8e-3}.get(kind, 1e-6)
    return Case(function, tolerance, 1e-6)


def _facts(torch: Any) -> Any:
    answer = {}
    for name in NAMES:
        dtype = getattr(torch, name)
        facts = [repr(dtype), dtype.itemsize, dtype.is_floating_point, dtype.is_complex, dtype.is_signed]
        facts += [
            torch.ones(1, dtype=dtype).type(),
            repr(torch.ones((), dtype=dtype)),
            torch.ones(1).to(dtype).tolist(),
        ]
        for limits in (torch.finfo, torch.iinfo):
            try:
                facts.append(repr(limits(dtype)))
            except TypeError:
                facts.append("refused")
        answer[name] = facts
    return answer


def _can_cast(torch: Any) -> Any:
    return {f"{a} {b}": torch.can_cast(getattr(torch, a), getattr(torch, b)) for a in NAMES for b in NAMES}


def _result_type(torch: Any) -> Any:
    answer = {}
    for a in NAMES:
        for b in NAMES:
            pair = getattr(torch, a), getattr(torch, b)
            answer[f"{a} {b}"] = str(torch.result_type(torch.ones(2, dtype=pair[0]), torch.ones((), dtype=pair[1])))
    return answer


def _second_names(torch: Any) -> Any:
    names = ("half", "float", "double", "short", "int", "long")
    return [repr(getattr(torch, name)) for name in names]


def _default_dtype(torch: Any) -> Any:
    answer = []
    for name in REDUCED:
        torch.set_default_dtype(getattr(torch, name))
        try:
            answer += [repr(torch.ones(2)), repr(torch.tensor([1.5]) + 1), str((torch.arange(3) / 2).dtype)]
        finally:
            torch.set_default_dtype(torch.float32)
    return answer


CASES: dict[str, Case] = {
    "facts of every type": Case(_facts),
    "can_cast of every pair": Case(_can_cast),
    "result_type of every pair": Case(_result_type),
    "second names": Case(_second_names),
    "default dtype": Case(_default_dtype),
    **{f"{kind}: {text}": _of(kind, text) for kind in INTEGERS for text in INTEGER_EXPRESSIONS},
    **{f"{kind}: {text}": _of(kind, text) for kind in REDUCED for text in REDUCED_EXPRESSIONS},
    **{f"float16: {text}": _of("float16", text) for text in HALF_EXPRESSIONS},
}
