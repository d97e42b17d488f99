"""Derivatives of functions of nested values."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor


# ---------------------------------------------------------------------- leaves of one derivative


def _fresh(tree: Any, function: str) -> tuple[Any, list[Tensor]]:
    """The nested tensors as new ones to differentiate by; an outer derivative still flows through them."""
    leaves, spec = pytree.tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            raise ValueError(f"{function}: Expected all inputs to be Tensors, but got {type(leaf)}")
    made = [leaf.view_as(leaf) if leaf.requires_grad else leaf.detach().requires_grad_() for leaf in leaves]
    return pytree.tree_unflatten(made, spec), made


def _is_wanted_outside(tensor: Tensor, inner: set[Any]) -> bool:
    """Whether the graph of a result reaches a leaf that is none of the derivative's own."""
    seen: set[Any] = set()
    pending = [tensor.grad_fn] if tensor.grad_fn is not None else []
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None and id(variable) not in inner:
            return True
        pending += [following for following, _ in node.next_functions if following is not None]
    return False


def _finish(tree: Any, fresh: Iterable[Tensor]) -> Any:
    """Results without the history that only the derivative's own leaves have."""
    inner = {id(leaf) for leaf in fresh if leaf.is_leaf}

    def strip(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not leaf.requires_grad:
            return leaf
        if leaf.is_leaf:
            return leaf.detach() if id(leaf) in inner else leaf
        return leaf if _is_wanted_outside(leaf, inner) else leaf.detach()

    return pytree.tree_map(strip, tree)


def _gradients(outputs: list[Tensor], inputs: list[Tensor], vectors: list[Tensor]) -> list[Tensor]:
    """The gradients, recorded themselves; zeros where there are none."""
    pairs = [pair for pair in zip(outputs, vectors, strict=True) if pair[0].requires_grad]
    found: tuple[Any, ...] = (None,) * len(inputs)
    if pairs:
        found = torch.autograd.grad(
            [output for output, _ in pairs],
            inputs,
            [vector for _, vector in pairs],
            create_graph=True,
            allow_unused=True,
        )
    return [torch.zeros_like(x) if gradient is None else gradient for x, gradient in zip(inputs, found, strict=True)]


def _split(argnums: int | tuple[int, ...], args: tuple[Any, ...], function: str) -> tuple[Any, tuple[int, ...]]:
    """The arguments to differentiate by, one or a tuple, and their places."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not all(isinstance(place, int) for place in places):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got {argnums}")
    if not places:
        raise RuntimeError("argnums must be non-empty")
    for place in places:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
    chosen = tuple(args[place] for place in places)
    return chosen[0] if isinstance(argnums, int) else chosen, tuple(place % len(args) for place in places)


def _put(args: tuple[Any, ...], places: tuple[int, ...], values: Any) -> tuple[Any, ...]:
    result = list(args)
    for place, value in zip(places, values, strict=True):
        result[place] = value
    return tuple(result)


def _unpack_aux(result: Any, function: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(f"{function}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


# ---------------------------------------------------------------------- gradients


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function's gradients, as `grad` gives them, and its value; with `has_aux` the value is (value, aux)."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad():
            chosen, places = _split(argnums, args, "grad_and_value")
            tree, fresh = _fresh(chosen, "grad_and_value")
            output = func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs)
            aux = None
            if has_aux:
                output, aux = _unpack_aux(output, "grad_and_value(f)(*args)")
            if not isinstance(output, torch.Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got type {type(output)}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            gradients = _gradients([output], fresh, [torch.ones_like(output)])
            tree = pytree.tree_unflatten(gradients, pytree.tree_structure(chosen))
        result = (tree, (output, aux)) if has_aux else (tree, output)
        return _finish(result, fresh)

    return wrapped


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function of the gradients of `func`, which returns one number, with respect to arguments of it.

    Arguments may be nested; with `has_aux` `func` returns (number, aux), and the result is (gradients, aux).

    >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapped


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The function's value, and a function from vectors, nested as the value is, to their products with the Jacobian.

    With `has_aux`: (value, product, aux). The product is a tuple with a part for each primal.
    """
    with torch.enable_grad():
        tree, fresh = _fresh(primals, "vjp")
        output = func(*tree)
        aux = None
        if has_aux:
            output, aux = _unpack_aux(output, "vjp(f, *primals)")
        outputs, spec = pytree.tree_flatten(output)
        for leaf in outputs:
            if not isinstance(leaf, torch.Tensor):
                raise RuntimeError(f"vjp(f, *primals): Expected f(*primals) to return only tensors, got {type(leaf)}")

    def product(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors, given = pytree.tree_flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if given != spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {given}, primal output: {spec}"
            )
        with torch.enable_grad():
            pairs = [pair for pair in zip(outputs, vectors, strict=True) if pair[0].requires_grad]
            found: tuple[Any, ...] = (None,) * len(fresh)
            if pairs:
                found = torch.autograd.grad(
                    [one for one, _ in pairs],
                    fresh,
                    [two for _, two in pairs],
                    create_graph=True,
                    retain_graph=True,
                    allow_unused=True,
                )
            gradients = [torch.zeros_like(x) if value is None else value for x, value in zip(fresh, found, strict=True)]
        result = pytree.tree_unflatten(gradients, pytree.tree_structure(primals))
        return _finish(result, fresh)

    value = _finish(output, fresh)
    return (value, product, _finish(aux, fresh)) if has_aux else (value, product)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The function's value, and how it changes when the primals (a tuple) move along the tangents.

    With `has_aux`: (value, change, aux). `strict` makes it an error if the value does not depend on the primals.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call "
            f"f(*primals). Got {type(primals)}"
        )
    if pytree.tree_structure(primals) != pytree.tree_structure(tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure."
        )
    with torch.enable_grad():
        tree, fresh = _fresh(primals, "jvp")
        output = func(*tree)
        aux = None
        if has_aux:
            output, aux = _unpack_aux(output, "jvp(f, primals, tangents)")
        outputs, spec = pytree.tree_flatten(output)
        if strict and not all(leaf.requires_grad for leaf in outputs):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): an output does not depend on the inputs")
        weights = [torch.zeros_like(leaf, requires_grad=True) for leaf in outputs]
        gradients = _gradients(outputs, fresh, weights)
        moved = _gradients(gradients, weights, pytree.tree_leaves(tangents))
    changes = pytree.tree_unflatten(moved, spec)
    own = [*fresh, *weights]
    result = (_finish(output, own), _finish(changes, own))
    return (*result, _finish(aux, own)) if has_aux else result


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The function's value, and the function of its changes along tangents, which has the same values each time."""
    value = func(*primals)
    return value, lambda *tangents: jvp(func, primals, tangents)[1]


# ---------------------------------------------------------------------- Jacobians


def _basis(like: Tensor) -> list[Tensor]:
    """Tensors shaped like `like` with one 1 each."""
    count = like.numel()
    return [one.view(like.shape) for one in torch.eye(count, dtype=like.dtype, device=like.device)]


def _jacobian(
    func: Callable[..., Any], argnums: int | tuple[int, ...], has_aux: bool, rows: Callable[..., Any], name: str
) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad():
            chosen, places = _split(argnums, args, name)
            tree, fresh = _fresh(chosen, name)
            output = func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs)
            aux = None
            if has_aux:
                output, aux = _unpack_aux(output, f"{name}(f)(*args)")
            outputs, spec = pytree.tree_flatten(output)
            inner = pytree.tree_structure(chosen)
            parts = [pytree.tree_unflatten(row, inner) for row in rows(outputs, fresh)]
        result = _finish(pytree.tree_unflatten(parts, spec), fresh)
        return (result, _finish(aux, fresh)) if has_aux else result

    return wrapped


def _reverse_rows(outputs: list[Tensor], inputs: list[Tensor]) -> list[list[Tensor]]:
    rows = []
    for output in outputs:
        found = []
        for one in _basis(output):
            if output.requires_grad:
                gradients: Any = torch.autograd.grad(
                    output, inputs, one, create_graph=True, retain_graph=True, allow_unused=True
                )
            else:
                gradients = [None] * len(inputs)
            found.append([torch.zeros_like(x) if g is None else g for x, g in zip(inputs, gradients, strict=True)])
        rows.append(
            [
                torch.stack([each[place] for each in found]).view(output.shape + x.shape)
                if found
                else x.new_zeros(output.shape + x.shape)
                for place, x in enumerate(inputs)
            ]
        )
    return rows


def _forward_rows(outputs: list[Tensor], inputs: list[Tensor]) -> list[list[Tensor]]:
    weights = [torch.zeros_like(output, requires_grad=True) for output in outputs]
    gradients = []
    for output, weight in zip(outputs, weights, strict=True):
        found: Any = [None] * len(inputs)
        if output.requires_grad:
            found = torch.autograd.grad(output, inputs, weight, create_graph=True, retain_graph=True, allow_unused=True)
        gradients.append(found)
    rows = []
    for output, weight, found in zip(outputs, weights, gradients, strict=True):
        row = []
        for x, gradient in zip(inputs, found, strict=True):
            columns = []
            for one in _basis(x):
                moved = None
                if gradient is not None and gradient.requires_grad:
                    (moved,) = torch.autograd.grad(
                        gradient, weight, one, create_graph=True, retain_graph=True, allow_unused=True
                    )
                columns.append(torch.zeros_like(output) if moved is None else moved)
            row.append(
                torch.stack(columns, -1).view(output.shape + x.shape)
                if columns
                else x.new_zeros(output.shape + x.shape)
            )
        rows.append(row)
    return rows


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function of all derivatives of `func`: for a result of shape S and an argument of shape T, shape S + T.

    One backward pass for each element of the result.

    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _jacobian(func, argnums, has_aux, _reverse_rows, "jacrev")


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The same derivatives, with one pass for each element of the argument."""
    return _jacobian(func, argnums, has_aux, _forward_rows, "jacfwd")


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function of all second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: writes in place need not be removed for derivatives here."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError("functionalize(f, remove='...'): Valid options are 'mutations' or 'mutations_and_views'.")
    return func
