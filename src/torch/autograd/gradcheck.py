"""Compares gradients with finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


class GradcheckError(RuntimeError):
    """A gradient differs from its finite difference, or cannot be checked."""


def _tensors(value: Any) -> list[Tensor]:
    values = [value] if isinstance(value, torch.Tensor) else list(value)
    return [item for item in values if isinstance(item, torch.Tensor)]


def _numerical_jacobian(function: Callable[..., Any], inputs: Sequence[Any], position: int, eps: float) -> list[Tensor]:
    """d output / d inputs[position] by central differences: per output a matrix (elements in, elements out)."""
    with torch.no_grad():
        values = inputs[position].detach().clone().contiguous()
        arguments = [item.detach() if isinstance(item, torch.Tensor) else item for item in inputs]
        arguments[position] = values
        flat = values.view(-1)
        rows: list[list[Tensor]] = []
        for index in range(flat.numel()):
            original = flat[index].item()
            sides = []
            for sign in (1, -1):
                flat[index] = original + sign * eps
                sides.append([out.detach().clone().reshape(-1) for out in _tensors(function(*arguments))])
            flat[index] = original
            rows.append([(high - low) / (2 * eps) for high, low in zip(*sides, strict=True)])
    return [torch.stack([row[number] for row in rows]) for number in range(len(rows[0]))] if rows else []


def _analytical_jacobian(output: Tensor, wanted: Tensor) -> Tensor:
    """The same matrix from backward(), one output element at a time."""
    columns = []
    for index in range(output.numel()):
        gradient = torch.zeros(output.numel(), dtype=output.dtype, device=output.device)
        gradient[index] = 1
        gradient = gradient.reshape(output.shape)
        (found,) = torch.autograd.grad(output, wanted, gradient, retain_graph=True, allow_unused=True)
        columns.append(torch.zeros_like(wanted).reshape(-1) if found is None else found.reshape(-1))
    return torch.stack(columns, 1) if columns else torch.zeros(wanted.numel(), 0, dtype=wanted.dtype)


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Checks the gradients of `func(*inputs)` for every input that requires grad.

    Inputs should be float64: with less precision finite differences prove nothing, and a ValueError says so.
    Raises GradcheckError with both matrices where they differ by more than `atol + rtol * |numerical|`, or returns
    False if not `raise_exception`. Two backward runs may differ by `nondet_tol`.
    """
    arguments = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    checked = [n for n, item in enumerate(arguments) if isinstance(item, torch.Tensor) and item.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for position in checked:
        if arguments[position].dtype != torch.float64:
            raise ValueError(f"gradcheck: input {position} is {arguments[position].dtype}; use float64 inputs")
    try:
        outputs = [out for out in _tensors(func(*arguments)) if out.requires_grad]
        if not outputs:
            raise GradcheckError("gradcheck: no output requires a gradient")
        for position in checked:
            numerical = _numerical_jacobian(func, arguments, position, eps)
            numerical_of = dict(zip(range(len(numerical)), numerical, strict=True))
            number = -1
            for all_number, out in enumerate(_tensors(func(*arguments))):
                if not out.requires_grad:
                    continue
                number += 1
                analytical = _analytical_jacobian(outputs[number], arguments[position])
                again = _analytical_jacobian(outputs[number], arguments[position])
                if not torch.allclose(analytical, again, rtol=0.0, atol=nondet_tol):
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and "
                        "grad_output multiple times gives different values"
                    )
                expected = numerical_of.get(all_number, torch.zeros_like(analytical))
                if not torch.allclose(analytical, expected, rtol=rtol, atol=atol):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {all_number} with respect to input {position},\n"
                        f"numerical:{expected}\nanalytical:{analytical}\n"
                    )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """gradcheck of the gradients of `func`; `grad_outputs` default to random numbers."""
    arguments = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    outputs = [out for out in _tensors(func(*arguments)) if out.requires_grad]
    gradients = list(grad_outputs) if grad_outputs is not None else [torch.randn_like(out) for out in outputs]
    gradients = [gradient.detach().requires_grad_() for gradient in gradients]

    def gradient_function(*values: Any) -> tuple[Tensor, ...]:
        given = [
            value
            if not isinstance(value, torch.Tensor) or value.requires_grad or not original.requires_grad
            else value.detach().requires_grad_()
            for value, original in zip(values[: len(arguments)], arguments, strict=True)
        ]
        with torch.enable_grad():
            results = [out for out in _tensors(func(*given)) if out.requires_grad]
            wanted = [item for item in given if isinstance(item, torch.Tensor) and item.requires_grad]
            found = torch.autograd.grad(
                results, wanted, list(values[len(arguments) :]), create_graph=True, allow_unused=True
            )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        gradient_function, [*arguments, *gradients], eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )
