"""PyTorch's errors of compiling."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """Base of the errors of compiling."""


class InvalidBackend(TorchDynamoException):
    """No backend has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class Unsupported(TorchDynamoException):
    """Code that could not be compiled; programs catch it, nothing raises it here."""
