"""Writes cuda_draws.npz: run with PyTorch, on a GPU of at least 4 multiprocessors, and tests/torch on PYTHONPATH.

What is here is of PyTorch 2.11 on an H100.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from cuda_draws import CASES, draw

if __name__ == "__main__":
    np.savez_compressed(Path(__file__).with_name("cuda_draws.npz"), **{name: draw(name) for name in CASES})
