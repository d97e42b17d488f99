"""What tests run in other processes: a module of its own, because a new process has to import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def double(received: Any, sent: Any) -> None:
    """Double the tensor that comes in, and send a view of it back."""
    tensor = received.get()
    tensor.mul_(2)
    sent.put(tensor[1:])
    received.get()  # lives until the parent has looked


def add_one(index: int, total: torch.Tensor) -> None:
    """Add one to element `index`; the process with number 5 fails."""
    if index == 5:
        raise ValueError("five")
    total[index] += 1


def increment(queue: Any, back: Any) -> None:
    """Add one to the tensor that comes in, and send its values back."""
    tensor = queue.get()
    tensor.data.add_(1)
    back.put(tensor.tolist())
