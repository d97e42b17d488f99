"""Automatic differentiation: `backward`, `grad`, and operations written in Python (`Function`)."""

from __future__ import annotations

from torch import _C
from torch._overridable import overridable
from torch.autograd import _callbacks
from torch.autograd.grad_mode import (
    enable_grad,
    enforce_grad_layout_policy as enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled as is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled as set_multithreading_enabled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from torch import Tensor
    from torch.autograd import forward_ad as forward_ad, functional as functional, graph as graph, profiler as profiler
    from torch.autograd.anomaly_mode import (
        detect_anomaly as detect_anomaly,
        set_detect_anomaly as set_detect_anomaly,
    )
    from torch.autograd.function import Function as Function, NestedIOFunction as NestedIOFunction
    from torch.autograd.gradcheck import gradcheck as gradcheck, gradgradcheck as gradgradcheck
    from torch.autograd.variable import Variable as Variable

__all__ = ["Function", "backward", "enable_grad", "grad", "gradcheck", "inference_mode", "no_grad", "set_grad_enabled"]

_LAZY = {
    "Variable": "variable",
    "Function": "function",
    "NestedIOFunction": "function",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "GradcheckError": "gradcheck",
    "detect_anomaly": "anomaly_mode",
    "set_detect_anomaly": "anomaly_mode",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _LAZY:
        value = getattr(import_module(f"torch.autograd.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    if name in ("anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler", "variable"):
        return import_module(f"torch.autograd.{name}")
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, _C.TensorBase):
        return (value,)
    if hasattr(value, "output_nr") and isinstance(value, tuple):  # a GradientEdge
        return (value,)
    return tuple(value) if isinstance(value, (tuple, list)) or hasattr(value, "__next__") else (value,)


def _check_gradients(outputs: tuple[Any, ...], gradients: tuple[Tensor | None, ...], is_batched: bool = False) -> None:
    """Checks the gradients handed in; what is missing is made, or refused, by the engine."""
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    for number, (output, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        if gradient is None or isinstance(output, tuple):  # a GradientEdge: the engine knows its shape
            continue
        if not isinstance(gradient, _C.TensorBase):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        if is_batched and gradient.shape[1:] != output.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. "
                "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{number}] has a shape of {gradient.shape} and output[{number}] "
                f"has a "
                f"shape of {output.shape}. If you only want some tensors in `grad_output` to be considered batched, "
                f"consider "
                "using vmap."
            )
        if not is_batched and gradient.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {gradient.shape} and output[{number}] has a "
                f"shape of {output.shape}."
            )


@overridable
def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds d(sum of tensors . grad_tensors) / d(leaf) to `.grad` of every leaf, or of `inputs` only.

    `retain_graph` (default: `create_graph`) keeps the graph for another call; `create_graph` records the backward
    computation itself. Raises RuntimeError if nothing requires a gradient.
    """
    if grad_variables is not None:
        raise TypeError("backward(): 'grad_variables' has been replaced by 'grad_tensors'")
    wanted = () if inputs is None else _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    outputs = _as_tuple(tensors)
    gradients = (None,) * len(outputs) if grad_tensors is None else _as_tuple(grad_tensors)
    _check_gradients(outputs, gradients)
    keep = create_graph if retain_graph is None else retain_graph
    _callbacks.run(outputs, gradients, keep, create_graph, wanted, True, True)


@overridable
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `.grad`.

    An input that the outputs do not depend on is an error, unless `allow_unused` (its gradient is None) or
    `materialize_grads` (zeros). With `is_grads_batched` the gradients handed in have a first dimension more, and
    so have the results.
    """
    import torch

    if not only_inputs:
        raise NotImplementedError(
            "only_inputs=False was removed from PyTorch: use backward() to fill .grad of the leaves"
        )
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    wanted = _as_tuple(inputs)
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    results = _as_tuple(outputs)
    gradients = (None,) * len(results) if grad_outputs is None else _as_tuple(grad_outputs)
    _check_gradients(results, gradients, is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    allowed = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        answer = _batch_of_gradients(results, gradients, keep, create_graph, wanted, allowed)
    else:
        answer = _callbacks.run(results, gradients, keep, create_graph, wanted, allowed, False)
    if materialize_grads:
        pairs = zip(answer, wanted, strict=True)
        return tuple(torch.zeros_like(tensor) if found is None else found for found, tensor in pairs)
    return tuple(answer)  # type: ignore[arg-type]  # only who allows unused inputs gets None


_FEW_ROWS = 8  # which the engine goes through as quickly one by one


def _batch_of_gradients(
    outputs: Any, gradients: tuple[Any, ...], keep: bool, create_graph: bool, inputs: Any, allow_unused: bool
) -> tuple[Tensor | None, ...]:
    """The results of one backward for each gradient of a batch, stacked; of many by one pass."""
    import torch

    sizes = {gradient.shape[0] for gradient in gradients if gradient is not None}
    if len(sizes) != 1:
        raise ValueError(f"is_grads_batched=True wants gradients of one batch size, got {sorted(sizes)}")
    (size,) = sizes
    if size > _FEW_ROWS and not _C._len_torch_dispatch_stack():
        from torch._functorch._gradients import take_pass

        # Where it may not stay, the last row takes the graph with it: a pass for many that fails has to leave it.
        count = size if keep else size - 1
        many = tuple(None if gradient is None else gradient[:count] for gradient in gradients)
        answer = take_pass(outputs, many, create_graph, inputs, allow_unused, count)
        if answer is not None and keep:
            return answer
        if answer is not None:
            last = tuple(None if gradient is None else gradient[-1] for gradient in gradients)
            one = _callbacks.run(outputs, last, keep, create_graph, inputs, allow_unused, False)
            pairs = zip(answer, one, strict=True)
            return tuple(None if row is None else torch.cat((rows, row[None])) for rows, row in pairs)
    rows = zip(*((None,) * size if gradient is None else gradient.unbind(0) for gradient in gradients), strict=True)
    found = []
    for number, row in enumerate(rows, 1):
        found.append(_callbacks.run(outputs, row, keep or number < size, create_graph, inputs, allow_unused, False))
    if not found:
        return tuple(torch.zeros((0, *tensor.shape), dtype=tensor.dtype, device=tensor.device) for tensor in inputs)
    return tuple(None if column[0] is None else torch.stack(column) for column in zip(*found, strict=True))
