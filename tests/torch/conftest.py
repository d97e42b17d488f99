"""Tests of the Python package. They need torch, NumPy and pytest only; PyTorch's answers are in `golden/`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

# The settings put src/ first on the path, for torchgen. The torch under test is the installed one, or, in a checkout
# that was built in place, src/torch: so src/ goes last, unless it was built and PYTHONPATH names it. The tables of this
# folder are found by their plain names.
HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src"
sys.path.insert(0, str(HERE))
named = [Path(path).resolve() for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
if SOURCE not in named or not (SOURCE / "torch" / "version.py").exists():
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != SOURCE] + [str(SOURCE)]

import pytest  # noqa: E402

import torch  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _fresh_state() -> Iterator[None]:
    """Every test starts from seed 0 and PyTorch's defaults, and leaves no mode behind."""
    torch.manual_seed(0)
    if torch.cuda.is_available():  # convolutions of float32 are computed as such; TF32 has tests of its own
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            yield
    else:
        yield
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    assert torch.is_grad_enabled(), "a test left grad mode off"
