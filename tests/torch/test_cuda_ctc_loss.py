"""ctc_loss on a CUDA device: the CPU's losses and gradients."""

from __future__ import annotations

import pytest

import torch
from torch.nn import functional

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("form", ["padded", "joined"])
def test_losses_and_gradients(form: str, zero_infinity: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    scores = torch.randn(7, 4, 5, dtype=torch.float64).to(dtype)
    targets = torch.tensor([[1, 2, 2, 0], [4, 4, 4, 4], [0, 0, 0, 0], [3, 1, 0, 0]])
    steps, lengths = [7, 6, 5, 3], [3, 4, 0, 2]  # four equal labels need seven steps
    if form == "joined":
        targets = torch.cat([row[:length] for row, length in zip(targets, lengths, strict=True)])
    found = []
    for device in ("cpu", "cuda"):
        given = scores.clone().to(device).requires_grad_()
        losses = functional.ctc_loss(
            given.log_softmax(2), targets.to(device), steps, lengths, reduction="none", zero_infinity=zero_infinity
        )
        losses.sum().backward()
        assert given.grad is not None
        found.append((losses.detach().cpu(), given.grad.cpu()))
    for expected, actual in zip(*found, strict=True):
        torch.testing.assert_close(actual, expected, equal_nan=True)
