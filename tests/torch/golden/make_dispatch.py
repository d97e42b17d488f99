"""Writes dispatch.json with real PyTorch: the operators that a mode of `__torch_dispatch__` sees of each call.

    python tests/torch/golden/make_dispatch.py

It runs where torch==2.13.0 (CPU) is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import dispatch_cases  # noqa: E402

import torch  # noqa: E402

if __name__ == "__main__":
    if not torch.__version__.startswith("2.13.0") or torch.__file__.startswith(str(HERE.parents[2])):
        raise SystemExit(f"this is not PyTorch 2.13.0, but {torch.__version__} of {torch.__file__}")
    names = {case: " ".join(dispatch_cases.names_of(case)) for case in dispatch_cases.CASES}
    (HERE / "dispatch.json").write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")
