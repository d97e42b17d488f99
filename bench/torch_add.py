"""What one small operation costs: `a + b` on four floats, and its neighbours, next to another torch.

python bench/torch_add.py [--reference PYTHON]
"""

from __future__ import annotations

import argparse
import subprocess
import sys

PROGRAM = """
import timeit, torch
torch.set_num_threads(1)
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
print(torch.__version__)
for name, function in cases.items():
    timer = timeit.Timer(function)
    count, _ = timer.autorange()
    best = min(timer.repeat(7, max(1, count // 4))) / max(1, count // 4)
    print(f'{name}\\t{best * 1e6}')
"""


def measure(python: str) -> tuple[str, dict[str, float]]:
    """The version, and microseconds per call: the best of seven repeats."""
    lines = subprocess.run([python, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()
    return lines[0], {name: float(value) for name, value in (line.split("\t") for line in lines[1:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter of an environment with another torch")
    options = parser.parse_args()
    measured = [measure(python) for python in filter(None, (sys.executable, options.reference))]
    print(f"{'microseconds per call':28}" + "".join(f"{version:>18}" for version, _ in measured))
    for name in measured[0][1]:
        print(f"{name:28}" + "".join(f"{figures[name]:18.2f}" for _, figures in measured))


if __name__ == "__main__":
    main()
