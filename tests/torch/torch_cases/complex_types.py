"""Complex numbers, and the unsigned integers that are hardly more than kept: values, parts, functions, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_golden import Case

COMPLEX = ("complex64", "complex128")
UNSIGNED = ("uint16", "uint32", "uint64")

COMPLEX_EXPRESSIONS = (
    "x + x, x - y, x * y, x / y, x + 2, x * 1j, 1j - x, x / (1 - 2j), x + torch.ones(4), x * torch.arange(4)",
    "x.add(y, alpha=2j), x.sub(y, alpha=2), torch.addcmul(x, y, y, value=1j), torch.addcdiv(x, y, y, value=0.5)",
    "torch.lerp(x, y, 0.3), torch.lerp(x, y, 0.8 + 0.1j), -x, +x, x.reciprocal(), x.square()",
    "x ** 2, x ** 3, x ** -1, x ** 0.5, x ** (0.5 + 1j), 2 ** x, y ** x, x ** 0, x.pow(-2)",
    "x.exp(), x.expm1(), y.log(), y.log2(), y.log10(), x.log1p(), x.sqrt(), y.rsqrt()",
    "x.sin(), x.cos(), x.tanh(), x.sigmoid()",
    "x.real, x.imag, x.abs(), abs(x), x.angle(), x.sgn(), x.conj(), x.conj_physical(), x.isreal(), x.is_complex()",
    "torch.view_as_real(x), torch.view_as_complex(torch.view_as_real(x)), x.imag.stride(), x.imag.storage_offset()",
    "x.real._is_view(), torch.view_as_real(x).data_ptr() == x.data_ptr(), x.is_conj(), x.resolve_conj(), x.is_neg()",
    "x == y, x != y, x == 1 + 2j, x.eq(x), x.logical_not(), x.logical_and(y), x.bool(), x.any(), x.all(), x.nonzero()",
    "x.isnan(), x.isinf(), x.isfinite(), torch.isclose(x, x + 1e-9), torch.allclose(x, x), torch.equal(x, y)",
    "x.sum(), x.mean(), x.prod(), x.cumsum(0), x.var(), x.std(), x.norm(), x.norm(1), x.reshape(2, 2).sum(0)",
    "x.reshape(2, 2).mean(1, keepdim=True), x.sum(dtype=torch.complex128), torch.ones(3).sum(dtype=torch.complex64)",
    "m @ m, m.mm(m), m @ x[:2], m[None].bmm(m[None]), torch.addmm(m, m, m, beta=1j, alpha=2), m.t() @ m.mH",
    "x.dot(y), x.vdot(y), torch.outer(x, y), m.H, m.mH, m.adjoint(), torch.einsum('ij,jk->ik', m, m)",
    "torch.where(x == x, x, y), x.masked_fill(x.real > 0, 2j), torch.cat([x, y]), torch.stack([x, y]), x.flip(0)",
    "x[torch.tensor([0, 2])], x.gather(0, torch.tensor([1, 1])), x.scatter(0, torch.tensor([1]), 7j), m.tril(), m.t()",
    "x.index_put((torch.tensor([0, 0]),), y[:2], accumulate=True), x.scatter_add(0, torch.tensor([1, 1]), y[:2])",
    "x.clone().fill_(1 + 2j), x.clone().zero_(), x.clone().add_(1j), x.clone().mul_(y), x.clone().div_(2)",
    "torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype), torch.full((2,), 3 - 1j, dtype=x.dtype)",
    "torch.eye(2, dtype=x.dtype), torch.empty(2, dtype=x.dtype).dtype, torch.zeros_like(x), torch.ones_like(x)",
    "torch.full((2,), 1j), torch.tensor([1, 2j]), torch.tensor([True, 1j]), torch.tensor([[1.5], [2j]])",
    "torch.randn(5, dtype=x.dtype), torch.rand(5, dtype=x.dtype), torch.randn_like(x)",
    "x.to(torch.complex64), x.to(torch.complex128), x.real.to(x.dtype), x.float(), x.double(), x.int(), x.half()",
    "torch.arange(3).to(x.dtype), torch.tensor([True, False]).to(x.dtype), torch.tensor([1.5]).half().to(x.dtype)",
    "x.tolist(), x[0].item(), complex(x[1]), x.numpy(), torch.from_numpy(x.numpy()), torch.tensor(x.numpy())",
    "torch.tensor(np.complex64(1 + 2j)), float(x[0].real), int(torch.tensor(3 + 0j)), bool(x[0])",
    "repr(x), str(x[0]), repr(x * 1e5), repr(x * 1e-6), repr(m), repr(x.real), repr(x[:0]), repr(torch.tensor(2j))",
    "repr(torch.tensor([1 + 2j, float('nan')]).to(x.dtype))",
    "x.type(), x.element_size(), x.dtype.to_real(), x.real.dtype.to_complex(), torch.finfo(x.dtype).eps",
    "x.storage().dtype, x.view(torch.float32).shape, torch.result_type(x, 1.0), torch.result_type(torch.ones(2), 1j)",
    "x < y",
    "x.floor()",
    "x.round()",
    "x.sign()",
    "x.max()",
    "x.sort()",
    "torch.maximum(x, y)",
    "x // y",
    "x % y",
    "x & x",
    "x.relu()",
    "x.clamp(0, 1)",
    "x.softmax(0)",
    "x.abs_()",
    "torch.iinfo(x.dtype)",
    "torch.set_default_dtype(x.dtype)",
    "torch.arange(3, dtype=x.dtype)",
    "torch.ones(2).add_(1j)",
    "torch.ones(2).fill_(1j)",
    "torch.add(torch.ones(2), 1, alpha=1j)",
    "torch.ones(2).imag",
    "torch.view_as_real(torch.ones(2))",
    "torch.view_as_complex(torch.ones(3))",
    "torch.complex(torch.ones(2), torch.ones(2).double())",
)
PARTS = (
    "torch.complex(p, q), torch.polar(p, q), torch.complex(p, q[:1]), p.angle(), p.sgn(), p.real is p, p.conj() is p",
    "torch.view_as_complex(torch.stack([p, q], -1)), p + 1j, (p * 2j).dtype, p.isreal(), torch.tensor([-1, 2]).angle()",
)
# Gradients: of a real loss with respect to z (and w), as conjugate Wirtinger derivatives.
GRADIENTS = (
    "(z * w).abs().sum()",
    "(z / w).real.sum()",
    "(z * z.conj()).real.sum()",
    "(z + 2 * w - 1j).imag.sum()",
    "z.angle().sum() + w.angle().sum()",
    "z.sgn().real.sum()",
    "(z ** 2).real.sum() + (z ** 3).imag.sum() + (z ** 0.5).real.sum() + (z ** (1 - 2j)).real.sum()",
    "(z ** w).real.sum()",
    "z.exp().real.sum() + z.log().imag.sum() + z.sqrt().real.sum() + z.rsqrt().imag.sum()",
    "z.sin().real.sum() + z.cos().imag.sum() + z.tanh().real.sum() + z.sigmoid().imag.sum()",
    "z.log2().real.sum() + z.log10().imag.sum() + z.log1p().real.sum() + z.expm1().imag.sum()",
    "z.reciprocal().real.sum() + z.square().imag.sum() + (-z).real.sum()",
    "z.prod().real + z.sum().imag + z.mean().real",
    "z.cumsum(0).abs().sum()",
    "z.var() + w.std()",
    "z.norm() + w.norm(1) + w.norm(3)",
    "(z.reshape(2, 2) @ w.reshape(2, 2)).abs().sum()",
    "torch.addmm(z.reshape(2, 2), w.reshape(2, 2), z.reshape(2, 2), beta=1j, alpha=2 - 1j).real.sum()",
    "z.reshape(1, 2, 2).bmm(w.reshape(1, 2, 2).mH).imag.sum()",
    "torch.addcmul(z, z, w, value=1j).real.sum() + torch.addcdiv(z, z, w, value=2j).real.sum()",
    "torch.lerp(z, w, 0.3 + 0.2j).abs().sum()",
    "torch.view_as_real(z).square().sum()",
    "torch.view_as_complex(torch.view_as_real(z) * 2).real.sum()",
    "(z * torch.arange(4.0)).real.sum() + (z.real * w.imag).sum()",
    "torch.where(z.real > 0, z, w).abs().sum() + torch.cat([z, w]).imag.sum()",
    "z[1:].abs().sum() + z[torch.tensor([0, 0])].real.sum() + z.masked_fill(z.real > 0, 1j).abs().sum()",
    "(lambda v: (v.real.mul_(2), v.abs().sum()))(z * 1)[1]",
    "(lambda v: (v.imag.copy_(w.real), (v * v).real.sum()))(z * 1)[1]",
    "(lambda v: (torch.view_as_real(v)[:, 0].zero_(), v.abs().sum()))(z * w)[1]",
)
REAL_GRADIENTS = (
    "torch.complex(p, q).abs().sum()",
    "torch.polar(p, q).real.sum()",
    "(p * (1 + 2j)).abs().sum() + (q + 1j).angle().sum()",
    "p.to(torch.complex128).exp().real.sum() + (p * torch.polar(q, q)).imag.sum()",
)
UNSIGNED_EXPRESSIONS = (
    "x * x, x / 2, x + 1.5, x == x, x != 3, x & 6, x | 1, x ^ 3, x.sqrt(), x.exp()",
    "x.sum(), x.prod(), x.cumsum(0), x.any(), x.all(), x.float().mean(), x.sort(), x.unique()",
    "x.to(torch.int8), x.long(), x.float(), x.double(), x.bool(), torch.tensor([-1, 300, 70000]).to(x.dtype)",
    "torch.tensor([1.7, -1.0, 300.5]).to(x.dtype), x.half(), x.to(torch.complex64), x.cfloat()",
    "x[torch.tensor([0, 3])], torch.cat([x, x]), torch.where(x == 3, x, x * x)",
    "x.reshape(2, 3), x.t(), torch.full((2,), 3, dtype=x.dtype), torch.zeros(2, dtype=x.dtype), torch.equal(x, x)",
    "x.tolist(), x[4].item(), repr(x), str(x[0]), x.type(), x.element_size(), repr(torch.iinfo(x.dtype))",
    "x.numpy().dtype.name, torch.from_numpy(x.numpy()), torch.tensor(x.numpy())",
    "torch.randint(0, 9, (3,), dtype=x.dtype)",
    "x.clone().fill_(7), x.clone().zero_(), x.dtype.is_signed, x.floor(), x.storage().dtype",
    "torch.tensor(2**16 - 1, dtype=x.dtype).item(), torch.iinfo(x.dtype).max",
    "x + x.long()",
    "torch.promote_types(x.dtype, torch.int8)",
    "torch.promote_types(x.dtype, torch.float16), torch.result_type(x, 1), torch.result_type(x, 1.0)",
)
LARGE = "torch.tensor([2**64 - 1, 2**63], dtype=torch.uint64)"
LARGE_EXPRESSIONS = (
    f"{LARGE}.tolist(), {LARGE}[0].item(), repr({LARGE}), {LARGE}.double(), {LARGE}.long(), {LARGE}.float()",
    f"torch.full((2,), 2**63, dtype=torch.uint64), {LARGE}.numpy(), {LARGE}.sort(), {LARGE} == {LARGE}",
)


def _part(kind: str) -> str:
    return "float32" if kind == "complex64" else "float64"


def _names(torch: Any, kind: str) -> dict[str, Any]:
    dtype = getattr(torch, kind)
    if kind in UNSIGNED:
        return {"torch": torch, "np": np, "x": torch.tensor([0, 1, 2, 3, 100, 7]).to(dtype)}
    x = torch.tensor([0.5 - 1j, 2 + 0.25j, -1.5 + 0.75j, 0j]).to(dtype)
    y = torch.tensor([1 + 1j, -2 + 0.5j, 0.5 - 0.5j, 3]).to(dtype)
    part = getattr(torch, _part(kind))
    p, q = torch.tensor([0.5, 2.0, 1.25], dtype=part), torch.tensor([-1.0, 0.75, 3.0], dtype=part)
    return {"torch": torch, "np": np, "x": x, "y": y, "m": (x + y).reshape(2, 2), "p": p, "q": q}


def _of(kind: str, text: str) -> Case:
    def function(torch: Any) -> Any:
        answer = eval(text, _names(torch, kind))
        return (
            [item.tolist() if isinstance(item, np.ndarray) else item for item in answer]
            if isinstance(answer, tuple)
            else answer
        )

    return Case(function, 3e-6 if kind == "complex64" else 1e-12, 1e-6 if kind == "complex64" else 1e-12)


def _gradient(text: str, real: bool) -> Case:
    def function(torch: Any) -> Any:
        names = _names(torch, "complex128")
        first, second = ("p", "q") if real else ("z", "w")
        if not real:
            names["z"], names["w"] = names["x"] + 0.125, names["y"]
        leaves = [names[name].clone().requires_grad_() for name in (first, second)]
        names[first], names[second] = leaves
        eval(text, names).backward()
        return [leaf.grad for leaf in leaves]

    return Case(function, 1e-10, 1e-10)


CASES: dict[str, Case] = {
    **{f"{kind}: {text}": _of(kind, text) for kind in COMPLEX for text in (*COMPLEX_EXPRESSIONS, *PARTS)},
    **{f"gradient: {text}": _gradient(text, False) for text in GRADIENTS},
    **{f"gradient: {text}": _gradient(text, True) for text in REAL_GRADIENTS},
    **{f"{kind}: {text}": _of(kind, text) for kind in UNSIGNED for text in UNSIGNED_EXPRESSIONS},
    **{f"uint64: {text}": _of("uint64", text) for text in LARGE_EXPRESSIONS},
}
