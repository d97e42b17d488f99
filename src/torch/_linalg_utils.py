"""Functions that PyTorch removed from `torch` and that say by what they were replaced."""

from __future__ import annotations

from typing import Any, NoReturn


def _removed(name: str, successor: str) -> NoReturn:
    raise RuntimeError(f"torch.{name} is deprecated and was removed: use torch.linalg.{successor}")


def eig(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises RuntimeError: use `torch.linalg.eig`."""
    _removed("eig", "eig")


def lstsq(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises RuntimeError: use `torch.linalg.lstsq`."""
    _removed("lstsq", "lstsq")


def matrix_rank(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises RuntimeError: use `torch.linalg.matrix_rank`."""
    _removed("matrix_rank", "matrix_rank")


def solve(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises RuntimeError: use `torch.linalg.solve`."""
    _removed("solve", "solve")


def symeig(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises RuntimeError: use `torch.linalg.eigh`."""
    _removed("symeig", "eigh")
