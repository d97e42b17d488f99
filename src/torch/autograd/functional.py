"""Derivatives of functions: products with vectors, Jacobians and Hessians, by one or two backward passes.

A function takes tensors and returns a tensor or a tuple of them. Where it does not depend on an input the derivative is
zero; `strict=True` makes that an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _as_tuple(value: Any, argument: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether it is one already, and the tuple; TypeError unless all of it are tensors."""
    is_tuple = isinstance(value, tuple)
    values = value if is_tuple else (value,)
    for number, item in enumerate(values):
        if not isinstance(item, torch.Tensor):
            if is_tuple:
                raise TypeError(
                    f"All the values in {argument} given to {function} must be Tensors but the value at index {number} "
                    f"has type {type(item)}."
                )
            raise TypeError(
                f"The {argument} given to {function} must be either a Tensor or a tuple of Tensors but the given "
                f"{argument} has type {type(item)}."
            )
    return is_tuple, values


def _inputs(value: Any, function: str, create_graph: bool) -> tuple[bool, tuple[Tensor, ...]]:
    is_tuple, values = _as_tuple(value, "inputs", function)
    if create_graph:
        # A view, so that derivatives are those with respect to what the function gets.
        fresh = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in values]
    else:
        fresh = [x.detach().requires_grad_() for x in values]
    return is_tuple, tuple(fresh)


def _call(func: Callable[..., Any], inputs: tuple[Tensor, ...], function: str, strict: bool) -> Any:
    is_tuple, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", function)
    if strict:
        for number, output in enumerate(outputs):
            if not output.requires_grad:
                raise RuntimeError(
                    f"Output {number} of the user-provided function does not require gradients. The outputs must be "
                    "computed in a differentiable manner from the input when running in strict mode."
                )
    return is_tuple, outputs


def _vector(v: Any, like: tuple[Tensor, ...], function: str, name: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {name} is a single Tensor with a single element."
                if name == "input"
                else "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        return (torch.ones_like(like[0]),)
    _, values = _as_tuple(v, "v", function)
    values = tuple(item.detach() if not item.requires_grad else item for item in values)
    if len(values) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}.")
    for number, (item, other) in enumerate(zip(values, like, strict=True)):
        if item.shape != other.shape:
            prefix = f"Entry {number} in " if len(like) > 1 else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {other.shape} but got {item.shape}.")
    return values


def _grad(
    outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], vectors: Any, create_graph: bool, strict: bool, what: str
) -> tuple[Tensor, ...]:
    """The gradients, zeros where there are none."""
    pairs = [pair for pair in zip(outputs, vectors, strict=True) if pair[0].requires_grad]
    found: tuple[Tensor | None, ...] = (None,) * len(inputs)
    if pairs:
        found = torch.autograd.grad(
            [output for output, _ in pairs],
            inputs,
            [vector for _, vector in pairs],
            create_graph=create_graph,
            retain_graph=True,
            allow_unused=True,
        )
    if strict:
        for number, gradient in enumerate(found):
            if gradient is None:
                raise RuntimeError(
                    f"The {what} is independent of input {number}. This is not allowed in strict mode."
                    if what != "outputs"
                    else f"Output of the user-provided function is independent of input {number}. This is not allowed "
                    "in strict mode."
                )
    return tuple(
        torch.zeros_like(x) if gradient is None else gradient for x, gradient in zip(inputs, found, strict=True)
    )


def _results(values: tuple[Tensor, ...], is_tuple: bool, create_graph: bool) -> Any:
    kept = values if create_graph else tuple(value.detach() for value in values)
    return kept if is_tuple else kept[0]


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The function's value, and v^T J: gradients of its outputs weighed by `v`, shaped like the inputs.

    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.autograd.functional.vjp(lambda x: x**2, x, torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "vjp", create_graph)
        outputs_are_tuple, outputs = _call(func, fresh, "vjp", strict)
        vector = _vector(v, outputs, "vjp", "output")
        gradients = _grad(outputs, fresh, vector, create_graph, strict, "outputs")
    return _results(outputs, outputs_are_tuple, create_graph), _results(gradients, is_tuple, create_graph)


def _double_backward(
    outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], vector: tuple[Tensor, ...], strict: bool
) -> tuple[Tensor, ...]:
    """J v, as the derivative of v'^T J with respect to v'."""
    weights = tuple(torch.zeros_like(output, requires_grad=True) for output in outputs)
    gradients = _grad(outputs, inputs, weights, True, strict, "outputs")
    return _grad(gradients, weights, vector, True, False, "outputs")


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The function's value, and J v: how its outputs change when the inputs move along `v`.

    Two backward passes compute it; `torch.func.jvp` takes and gives nested values.
    """
    with torch.enable_grad():
        _, fresh = _inputs(inputs, "jvp", create_graph)
        vector = _vector(v, fresh, "jvp", "input")
        outputs_are_tuple, outputs = _call(func, fresh, "jvp", strict)
        tangents = _double_backward(outputs, fresh, vector, strict)
    return _results(outputs, outputs_are_tuple, create_graph), _results(tangents, outputs_are_tuple, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All derivatives: for an output of shape S and an input of shape T a tensor of shape S + T.

    A tuple of outputs, or of inputs, gives a tuple, outputs outside. `vectorize` is accepted; rows are computed one by
    one. `strategy="forward-mode"` needs `vectorize=True`, as in PyTorch, and gives the same.

    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian with `vectorize=False` in forward mode is not supported yet: use vectorize=True"
        )
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "jacobian", create_graph)
        outputs_are_tuple, outputs = _call(func, fresh, "jacobian", strict)
        rows: list[tuple[Tensor, ...]] = []
        for output in outputs:
            flat = output.reshape(-1)
            columns: list[list[Tensor]] = [[] for _ in fresh]
            for position in range(flat.numel()):
                one = torch.zeros_like(flat)
                one[position] = 1
                gradients = _grad((flat,), fresh, (one,), create_graph, strict, "outputs")
                for column, gradient in zip(columns, gradients, strict=True):
                    column.append(gradient)
            rows.append(
                tuple(
                    torch.stack(column).view(output.shape + x.shape) if column else x.new_zeros(output.shape + x.shape)
                    for column, x in zip(columns, fresh, strict=True)
                )
            )
    kept = tuple(_results(row, is_tuple, create_graph) for row in rows)
    return kept if outputs_are_tuple else kept[0]


def _scalar(func: Callable[..., Any], function: str, strict: bool) -> Callable[..., Tensor]:
    """The function; RuntimeError unless it returns one tensor of one element."""

    def checked(*inputs: Tensor) -> Tensor:
        is_tuple, outputs = _call(func, inputs, function, strict)
        if is_tuple:
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single element"
            )
        return outputs[0].squeeze()

    return checked


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Second derivatives of a function with one number as its result: for inputs of shapes S and T, shape S + T.

    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    is_tuple, _ = _as_tuple(inputs, "inputs", "hessian")
    scalar = _scalar(func, "hessian", strict)

    def gradient(*values: Tensor) -> Any:
        return jacobian(scalar, values if is_tuple else values[0], create_graph=True, strict=strict)

    return jacobian(gradient, inputs, create_graph, strict, vectorize=vectorize, strategy=outer_jacobian_strategy)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of a function with one number as its result, and v^T H."""
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "vhp", create_graph)
        vector = _vector(v, fresh, "vhp", "input")
        output = _scalar(func, "vhp", strict)(*fresh)
        gradients = _grad((output,), fresh, (torch.ones_like(output),), True, strict, "outputs")
        product = _grad(gradients, fresh, vector, create_graph, strict, "jacobian of the user-provided function")
    return _results((output,), False, create_graph), _results(product, is_tuple, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of such a function, and H v: the same numbers as `vhp`, which is faster, where H is symmetric."""
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "hvp", create_graph)
        vector = _vector(v, fresh, "hvp", "input")
        output = _scalar(func, "hvp", strict)(*fresh)
        gradients = _grad((output,), fresh, (torch.ones_like(output),), True, strict, "outputs")
        product = _double_backward(gradients, fresh, vector, strict)
    return _results((output,), False, create_graph), _results(product, is_tuple, create_graph)
