"""Derivatives of functions: products with vectors, Jacobians and Hessians, by backward passes or in forward mode.

A function takes tensors and returns a tensor or a tuple of them. Where it does not depend on an input the derivative is
zero; `strict=True` makes that an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd._products import filled, gradients, jacobian_rows, linearized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
                    f"The {argument} given to {function} must be either a Tensor or a tuple of Tensors but the value "
                    f"at "
                    f"index {number} has type {type(item)}."
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
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single "
                "element."
                if name == "input"
                else "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        return (torch.ones_like(like[0]),)
    _, values = _as_tuple(v, "v", function)
    values = tuple(item.detach() if not item.requires_grad else item for item in values)
    if len(values) != len(like):
        if len(like) == 1:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}.")
    for number, (item, other) in enumerate(zip(values, like, strict=True)):
        if item.shape != other.shape:
            prefix = f"Entry {number} in " if len(like) > 1 else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {other.shape} but got {item.shape}.")
    return values


_OUTPUT = "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example)."
)


def _require_all(found: Sequence[Tensor | None], message: str) -> None:
    """RuntimeError for an input that nothing depends on."""
    for number, gradient in enumerate(found):
        if gradient is None:
            raise RuntimeError(message.format(number))


def _grad(
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    vectors: Any,
    create_graph: bool,
    strict: bool,
    message: str,
) -> tuple[Tensor, ...]:
    """The gradients, zeros where there are none."""
    found = gradients(outputs, inputs, vectors, create_graph)
    if strict:
        _require_all(found, message)
    return tuple(filled(found, inputs))


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
        gradients = _grad(outputs, fresh, vector, create_graph, strict, _OUTPUT)
    return _results(outputs, outputs_are_tuple, create_graph), _results(gradients, is_tuple, create_graph)


def _double_backward(
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    vector: tuple[Tensor, ...],
    strict: bool,
    message: str = _OUTPUT,
) -> tuple[Tensor, ...]:
    """J v, as the derivative of v'^T J with respect to v'."""
    found, product = linearized(outputs, inputs)
    if strict:
        _require_all(found, message)
    return tuple(filled(product(vector), outputs))


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

    A tuple of outputs, or of inputs, gives a tuple, outputs outside. Rows are computed one by one, with `vectorize`,
    too;
    `strategy="forward-mode"`, which needs it, computes columns, in forward mode.

    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please "
            "either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        if not vectorize:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `strategy="forward-mode"` is only supported with '
                "`vectorize=True`: "
                "please set `vectorize=True`."
            )
        return _forward_jacobian(func, inputs, create_graph)
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "jacobian", create_graph)
        outputs_are_tuple, outputs = _call(func, fresh, "jacobian", strict)
        rows = []
        for number, output in enumerate(outputs):
            found = jacobian_rows(output, fresh, create_graph)
            if strict:
                _require_all(found, _OUTPUT.replace("The output", f"Output {number}"))
            rows.append(
                tuple(
                    x.new_zeros(output.shape + x.shape) if one is None else one
                    for one, x in zip(found, fresh, strict=True)
                )
            )
    kept = tuple(_results(row, is_tuple, create_graph) for row in rows)
    return kept if outputs_are_tuple else kept[0]


def _forward_jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool) -> Any:
    is_tuple, fresh = _inputs(inputs, "jacobian", create_graph)
    with torch.set_grad_enabled(create_graph):
        found = torch.func.jacfwd(func, tuple(range(len(fresh))))(*fresh)
    rows = found if isinstance(found[0], tuple) else (found,)
    kept = tuple(_results(row, is_tuple, create_graph) for row in rows)
    return kept if rows is found else kept[0]


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
        found = jacobian(scalar, values if is_tuple else values[0], create_graph=True, strict=strict)
        if strict:
            rows = found if is_tuple else (found,)
            _require_all([row if row.requires_grad else None for row in rows], _JACOBIAN)
        return found

    return jacobian(gradient, inputs, create_graph, strict, vectorize=vectorize, strategy=outer_jacobian_strategy)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of a function with one number as its result, and v^T H."""
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "vhp", create_graph)
        vector = _vector(v, fresh, "vhp", "input")
        output = _scalar(func, "vhp", strict)(*fresh)
        gradients = _grad((output,), fresh, (torch.ones_like(output),), True, strict, _OUTPUT)
        product = _grad(gradients, fresh, vector, create_graph, strict, _JACOBIAN)
    return _results((output,), False, create_graph), _results(product, is_tuple, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of such a function, and H v: the same numbers as `vhp`, which is faster, where H is symmetric."""
    with torch.enable_grad():
        is_tuple, fresh = _inputs(inputs, "hvp", create_graph)
        vector = _vector(v, fresh, "hvp", "input")
        output = _scalar(func, "hvp", strict)(*fresh)
        gradients = _grad((output,), fresh, (torch.ones_like(output),), True, strict, _OUTPUT)
        product = _double_backward(gradients, fresh, vector, strict, _JACOBIAN)
    return _results((output,), False, create_graph), _results(product, is_tuple, create_graph)
