"""The built extension takes and returns torch's tensors, shares its libraries, and raises its errors as exceptions."""

from pathlib import Path
from typing import Any

import smooth

import torch
from torch.utils.cpp_extension import load_inline


class Smooth(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(rows)
        return smooth.forward(rows)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return smooth.backward(grad, *ctx.saved_tensors)


rows = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
assert torch.allclose(Smooth.apply(rows), torch.logsumexp(rows, 1))
assert torch.autograd.gradcheck(Smooth.apply, [rows])
for wrong, expected in ((torch.ones(2), ValueError), (None, TypeError)):
    try:
        smooth.forward(wrong)
    except expected as error:
        print(f"refused: {error}".splitlines()[0])
    else:
        raise AssertionError(f"{wrong} must be refused")
inline = load_inline("inline", "at::Tensor twice(const at::Tensor& x) { return x + x; }", functions=["twice"])
assert inline.twice(torch.ones(2)).tolist() == [2.0, 2.0]
maps = Path("/proc/self/maps").read_text(encoding="utf-8")
for library in ("libtorch_cpu.so", "libc10.so", "libtorch_python.so"):
    paths = {line.split()[-1] for line in maps.splitlines() if line.endswith(library)}
    assert len(paths) == 1, f"{library} is loaded from {sorted(paths)}"
print("extension works")
