"""Activations that are computed again in backward instead of being kept."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CheckpointFunction", "checkpoint", "checkpoint_sequential", "noop_context_fn"]


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The CUDA devices of the tensors among the arguments, and their random states: none on the CPU."""
    if any(isinstance(arg, torch.Tensor) and arg.is_cuda for arg in args):
        raise NotImplementedError("get_device_states: random states of CUDA devices are not kept")
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Sets the random states of devices: of none on the CPU."""
    if len(devices) > 0:
        raise NotImplementedError("set_device_states: random states of CUDA devices cannot be set")


def check_backward_validity(inputs: Any) -> None:
    """Warns if no tensor among the inputs wants a gradient."""
    import warnings

    if not any(value.requires_grad for value in inputs if isinstance(value, torch.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, tensors without history."""
    return tuple(_detached(value) for value in inputs)


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing, for forward and recomputation."""
    return nullcontext(), nullcontext()


def _detached(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().requires_grad_(value.requires_grad)


class CheckpointFunction(torch.autograd.Function):
    """Runs a function without a graph, and once more with one when the gradient is wanted."""

    @staticmethod
    def forward(ctx: Any, run: Callable[..., Any], preserve: bool, contexts: Any, *args: Any) -> Any:
        ctx.run, ctx.preserve, ctx.again = run, preserve, contexts[1]
        ctx.state = torch.get_rng_state() if preserve else None
        ctx.places = [number for number, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.others = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.save_for_backward(*(args[number] for number in ctx.places))
        with torch.no_grad(), contexts[0]:
            return run(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        args = list(ctx.others)
        for number, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[number] = _detached(tensor)
        before = torch.get_rng_state() if ctx.preserve else None
        try:
            if ctx.preserve:
                torch.set_rng_state(ctx.state)
            with torch.enable_grad(), ctx.again:
                outputs = ctx.run(*args)
        finally:
            if before is not None:
                torch.set_rng_state(before)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [
            (output, gradient)
            for output, gradient in zip(outputs, gradients, strict=True)
            if isinstance(output, torch.Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([output for output, _ in pairs], [gradient for _, gradient in pairs])
        return None, None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, of which the arguments are kept; backward runs it again with the same random state.

    Keyword arguments need `use_reentrant=False`, with which the function's parameters get gradients even if no argument
    wants one.
    """
    if use_reentrant is None:
        import warnings

        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly.", stacklevel=2)
        use_reentrant = True
    if use_reentrant and kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    run = (lambda *values: function(*values, **kwargs)) if kwargs else function
    if use_reentrant:
        return CheckpointFunction.apply(run, preserve_rng_state, context_fn(), *args)
    # A number that wants a gradient stands in for parameters that the function holds itself.
    wanted = torch.zeros(0, requires_grad=True)
    return CheckpointFunction.apply(lambda _, *values: run(*values), preserve_rng_state, context_fn(), wanted, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """The modules of a sequence one after the other, in `segments` parts of which all but the last are checkpointed."""
    steps: Sequence[Any] = list(functions.children()) if isinstance(functions, torch.nn.Module) else list(functions)

    def part(start: int, end: int) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for step in steps[start:end]:
                value = step(value)
            return value

        return forward

    size, start = len(steps) // segments, 0
    for _ in range(segments - 1):
        input = checkpoint(part(start, start + size), input, use_reentrant=use_reentrant, **kwargs)
        start += size
    return part(start, len(steps))(input)
