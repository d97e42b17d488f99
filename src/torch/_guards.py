"""What PyTorch's compiler knows while it traces: here nothing is being traced."""

from __future__ import annotations

from typing import Any


def active_fake_mode() -> None:
    """The mode in which tensors have no elements: None, there is none."""


def detect_fake_mode(inputs: Any = None) -> None:
    """The mode that made one of the inputs: None, there is none."""


class TracingContext:
    """What is known of a program that is being compiled."""

    @staticmethod
    def try_get() -> None:
        """None: nothing is being compiled."""
