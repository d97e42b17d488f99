"""Tests of the Python package. They need torch, NumPy and pytest only; PyTorch's answers are in `golden/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _fresh_state() -> Iterator[None]:
    """Every test starts from seed 0 and PyTorch's defaults, and leaves no mode behind."""
    torch.manual_seed(0)
    yield
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    assert torch.is_grad_enabled(), "a test left grad mode off"
