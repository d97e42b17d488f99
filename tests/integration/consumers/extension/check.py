"""The built extension gives what torch gives, shares its libraries, and turns its errors into exceptions."""

import math
from pathlib import Path

import smooth

import torch

expected = torch.log(torch.exp(torch.ones(5)) + 1.0).sum().item()
assert math.isclose(smooth.total(5), expected, rel_tol=1e-6), (smooth.total(5), expected)
try:
    smooth.total(-1)
except ValueError as error:
    print(f"refused: {error}".splitlines()[0])
else:
    raise AssertionError("a negative size must be refused")
maps = Path("/proc/self/maps").read_text(encoding="utf-8")
for library in ("libtorch_cpu.so", "libc10.so", "libtorch_python.so"):
    paths = {line.split()[-1] for line in maps.splitlines() if line.endswith(library)}
    assert len(paths) == 1, f"{library} is loaded from {sorted(paths)}"
print("extension works")
