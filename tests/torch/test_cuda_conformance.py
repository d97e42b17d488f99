"""Calls of PyTorch's own database of operators on a CUDA device: PyTorch's values and gradients, in any layout."""

from __future__ import annotations

import pytest
from operator_database import Database

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

DATABASE = Database(torch)


@pytest.mark.filterwarnings("ignore")  # of calls that PyTorch's database makes, too
@pytest.mark.parametrize("operator", DATABASE.by_operator)
def test_as_pytorch(operator: str) -> None:
    for call in DATABASE.by_operator[operator]:
        DATABASE.check(call, "cuda")
