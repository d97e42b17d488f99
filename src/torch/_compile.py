"""`torch.compile`: runs what it is given eagerly, as PyTorch's backend "eager" does."""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.backends import check_backend
from torch._dynamo.eval_frame import OptimizedModule

if TYPE_CHECKING:
    from collections.abc import Callable

_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")
_said = False


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **others: Any,
) -> Any:
    """A callable that computes what `model`, a function or module, computes; without `model`, a decorator.

    A module is wrapped as in PyTorch: its own is `_orig_mod`, and `state_dict()` has keys with that prefix. Nothing is
    compiled: the results are those of the model itself. With TORCH_COMPILE_DEBUG=1 this is said once on stderr.
    Raises RuntimeError for a mode or backend that PyTorch does not know.

    >>> torch.compile(lambda x: x + 1)(torch.ones(2))
    tensor([2., 2.])
    """
    if model is None:

        def decorate(function: Callable[..., Any]) -> Any:
            return compile(
                function,
                fullgraph=fullgraph,
                dynamic=dynamic,
                backend=backend,
                mode=mode,
                options=options,
                disable=disable,
            )

        return decorate
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    check_backend(backend)
    if disable:
        return model
    _say_once()
    if isinstance(model, torch.nn.Module):
        return OptimizedModule(model)
    return _run_eagerly(model)


def _run_eagerly(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    run._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return run


def _say_once() -> None:
    global _said
    if not _said and os.environ.get("TORCH_COMPILE_DEBUG") == "1":
        _said = True
        print("torch.compile: nothing is compiled, models run eagerly", file=sys.stderr)
