"""What one small operation costs: `a + b` on four floats, and its neighbours, next to another torch.

./slipway bench torch_add [--reference PYTHON] [--threads N ...]
"""

from __future__ import annotations

from compare import main

PROGRAM = """
a, b = torch.ones(4), torch.ones(4)
r = torch.ones(4, requires_grad=True)
out = torch.empty(4)
big_a, big_b = torch.ones(1_000_000), torch.ones(1_000_000)
m = torch.rand(256, 256)
layer = torch.nn.Linear(4, 4)
cases = {
    'a + b, four floats': lambda: a + b,
    'torch.add(a, b, out=out)': lambda: torch.add(a, b, out=out),
    'a.add_(b)': lambda: a.add_(b),
    'a + 1': lambda: a + 1,
    'a[1]': lambda: a[1],
    'a.sum()': lambda: a.sum(),
    'r + b, recorded': lambda: r + b,
    '(r * b).sum().backward()': lambda: (r * b).sum().backward(),
    'nn.Linear(4, 4)(a)': lambda: layer(a),
    'a + b, a million floats': lambda: big_a + big_b,
    'm @ m, 256 x 256': lambda: m @ m,
}
"""

if __name__ == "__main__":
    main(__doc__.splitlines()[0], PROGRAM)
