"""Functions of a million floats, next to another torch.

./slipway bench torch_unary [--reference PYTHON] [--threads N ...]
"""

from __future__ import annotations

from compare import main

PROGRAM = """
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(1_000_000)
positive = x.abs() + 0.01
other = torch.rand(1_000_000)
cases = {name: (lambda function=getattr(torch, name): function(positive)) for name in (
    'exp', 'expm1', 'log', 'log1p', 'log2', 'log10', 'sin', 'cos', 'tanh', 'sigmoid', 'erf', 'sqrt', 'rsqrt')}
cases |= {
    'gelu': lambda: F.gelu(x),
    'gelu, approximate tanh': lambda: F.gelu(x, approximate='tanh'),
    'silu': lambda: F.silu(x),
    'softplus': lambda: F.softplus(x),
    'x ** 2.7': lambda: positive ** 2.7,
    'x ** y': lambda: positive ** other,
    'log2, double': lambda double=positive.double(): torch.log2(double),
    'gelu, double': lambda double=x.double(): F.gelu(double),
    'x ** 2.7, double': lambda double=positive.double(): double ** 2.7,
}
"""

if __name__ == "__main__":
    main(__doc__.splitlines()[0], PROGRAM)
