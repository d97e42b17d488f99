"""Which backends `torch.compile` takes: PyTorch's names, all of which run eagerly here."""

from __future__ import annotations

from typing import Any

from torch._dynamo.exc import InvalidBackend

# name -> whether PyTorch lists it only when asked for those of debugging
_BACKENDS = {
    "cudagraphs": False,
    "inductor": False,
    "onnxrt": False,
    "openxla": False,
    "tvm": False,
    "aot_eager": True,
    "aot_eager_decomp_partition": True,
    "aot_ts": True,
    "eager": True,
    "eager_debug": True,
    "eager_noexcept": True,
    "ts": True,
}


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that `torch.compile(backend=...)` takes; `exclude_tags=()` for all."""
    return sorted(name for name, debugging in _BACKENDS.items() if not (debugging and "debug" in (exclude_tags or ())))


_default: list[Any] = ["inductor"]


def get_default_backend() -> Any:
    """The backend of `torch.compile` where none is said: "inductor" at first."""
    return _default[0]


def set_default_backend(backend: Any) -> None:
    """Sets it; None stands for "inductor". An unknown one is an error of the `torch.compile` that meets it."""
    _default[0] = "inductor" if backend is None else backend


def check_backend(backend: Any) -> None:
    """Raises InvalidBackend for an unknown name, NotImplementedError for a function that wants a captured graph.

    None stands for the default.
    """
    backend = _default[0] if backend is None else backend
    if callable(backend):
        raise NotImplementedError(
            f"torch.compile(backend={getattr(backend, '__name__', backend)!r}): no graph is captured here that a "
            'backend of your own could take; pass backend="eager"'
        )
    if backend not in _BACKENDS:
        raise InvalidBackend(backend)
