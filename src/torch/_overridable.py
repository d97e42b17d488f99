"""Functions written in Python that are called as operators are: classes and modes may answer, autocast converts.

`torch.overrides` says how the former do.
"""

from __future__ import annotations

from torch import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])


def overridable(function: Function) -> Function:
    """The function, asking its arguments' classes first; in autocast its arguments are converted by its name."""

    def dispatched(*args: Any, **kwargs: Any) -> Any:
        if not _C._is_call_special(args, kwargs):
            return function(*args, **kwargs)
        if not _C._is_call_overridden(args, kwargs):
            return _C._call_in_autocast(function, args, kwargs)
        from torch.overrides import _call_in_canonical_form

        return _call_in_canonical_form(dispatched, function, args, kwargs)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(dispatched, name, getattr(function, name))
    dispatched.__wrapped__ = function  # type: ignore[attr-defined]
    return dispatched  # type: ignore[return-value]
