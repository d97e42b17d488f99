"""Whether sparse tensors are checked when they are made."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_enabled = False


class check_sparse_tensor_invariants:
    """Turns checks of new sparse tensors' indices on or off: within a `with`, in a decorated function, or for good.

    >>> with check_sparse_tensor_invariants():
    ...     x = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    >>> check_sparse_tensor_invariants.is_enabled()
    False
    """

    def __init__(self, enable: bool = True) -> None:
        self._state = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether they are checked."""
        return _enabled

    @staticmethod
    def enable() -> None:
        """Has them checked from now on."""
        _set(True)

    @staticmethod
    def disable() -> None:
        """Leaves them unchecked from now on."""
        _set(False)

    def __enter__(self) -> None:
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different instance for nesting."
            )
        self._before = _enabled
        _set(self._state)

    def __exit__(self, *_: object) -> None:
        assert self._before is not None, "__exit__ follows __enter__"
        _set(self._before)
        self._before = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._state):
                return function(*args, **kwargs)

        return checked


def _set(enabled: bool) -> None:
    global _enabled
    _enabled = enabled
