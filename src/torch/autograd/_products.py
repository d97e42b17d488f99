"""Products of Jacobians with vectors, which torch.func and torch.autograd.functional are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Tensor], create_graph: bool = True
) -> list[Tensor | None]:
    """v^T J for each input; None where no output depends on it. The graph is kept."""
    pairs = [pair for pair in zip(outputs, vectors, strict=True) if pair[0].requires_grad]
    if not pairs:
        return [None] * len(inputs)
    roots, weights = zip(*pairs, strict=True)
    return list(
        torch.autograd.grad(roots, inputs, weights, create_graph=create_graph, retain_graph=True, allow_unused=True)
    )


def filled(values: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    """The values, zeros in place of None."""
    return [torch.zeros_like(x) if value is None else value for x, value in zip(like, values, strict=True)]


def linearized(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor]
) -> tuple[list[Tensor | None], Callable[[Sequence[Tensor]], list[Tensor | None]]]:
    """(gradients, product): `product(tangents)` is J v, the derivative of v'^T J with respect to v'.

    `gradients` are that of v' = 0.
    """
    weights = [torch.zeros_like(output, requires_grad=True) for output in outputs]
    found = gradients(outputs, inputs, weights)

    def product(tangents: Sequence[Tensor]) -> list[Tensor | None]:
        pairs = [(one, two) for one, two in zip(found, tangents, strict=True) if one is not None]
        return gradients([one for one, _ in pairs], weights, [two for _, two in pairs])

    return found, product


def basis(like: Tensor) -> Tensor:
    """Tensors shaped like `like` with one 1 each, stacked."""
    return torch.eye(like.numel(), dtype=like.dtype, device=like.device).view(-1, *like.shape)


def jacobian_rows(output: Tensor, inputs: Sequence[Tensor], create_graph: bool = True) -> list[Tensor | None]:
    """All derivatives of one output: for each input a tensor of the output's shape, then the input's; None for none."""
    if not output.requires_grad:
        return [None] * len(inputs)
    if output.numel() == 0:
        return [x.new_zeros(output.shape + x.shape) for x in inputs]
    found: Any = torch.autograd.grad(
        output,
        inputs,
        basis(output),
        create_graph=create_graph,
        retain_graph=True,
        allow_unused=True,
        is_grads_batched=True,
    )
    return [None if rows is None else rows.view(output.shape + x.shape) for rows, x in zip(found, inputs, strict=True)]
