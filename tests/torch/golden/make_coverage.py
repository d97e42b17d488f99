"""Writes docs/coverage.md with this torch: python tests/torch/golden/make_coverage.py"""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path

import torch
from torch._public_names import NAMES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "coverage.md"
INTRODUCTION = """\
# What of PyTorch is here

Written by `tests/torch/golden/make_coverage.py` from PyTorch 2.13's public names (`src/torch/_public_names.py`) and
this torch's own; a test compares. A name that is missing raises `NotImplementedError`, which here is an
`AttributeError`, too, so that `hasattr` says no. What each operator takes and gives is in [operators.md](operators.md).

| namespace | here | of | share |
|---|---|---|---|
"""


def _has(home: object, name: str) -> bool:
    try:
        return hasattr(home, name)
    except ImportError:
        return False


def _home(namespace: str) -> object:
    try:
        return torch.Tensor if namespace == "torch.Tensor" else import_module(namespace)
    except ImportError:
        return None


def text() -> str:
    """The page."""
    rows, sections = [], []
    for namespace, listed_names in NAMES.items():
        names = listed_names.split()
        home = _home(namespace)
        missing = [name for name in names if not _has(home, name)]
        count = len(names) - len(missing)
        rows.append(f"| `{namespace}` | {count} | {len(names)} | {100 * count // len(names)} % |\n")
        listed = textwrap.fill(" ".join(f"`{name}`" for name in missing), 120, break_on_hyphens=False) or "nothing"
        sections.append(f"\n## Missing in {namespace}\n\n{listed}\n")
    return INTRODUCTION + "".join(rows) + "".join(sections)


if __name__ == "__main__":
    PAGE.write_text(text())
