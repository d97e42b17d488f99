"""Derivatives of functions of nested values."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.autograd import forward_ad
from torch.autograd._products import basis, filled, gradients as products, jacobian_rows, linearized
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
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
    made = [leaf.view_as(leaf) if leaf.requires_grad else _C._detach_history(leaf).requires_grad_() for leaf in leaves]
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
        if not isinstance(leaf, torch.Tensor):
            return leaf
        is_kept = not leaf.requires_grad or (id(leaf) not in inner if leaf.is_leaf else _is_wanted_outside(leaf, inner))
        result = leaf if is_kept else leaf.detach()
        for level, tangent in _C._tangents(leaf):
            _C._set_tangent(result, strip(tangent), level)
        return result

    return pytree.tree_map(strip, tree)


def _gradients(outputs: list[Tensor], inputs: list[Tensor], vectors: list[Tensor]) -> list[Tensor]:
    """The gradients, recorded themselves; zeros where there are none."""
    return filled(products(outputs, inputs, vectors), inputs)


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
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
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
                raise RuntimeError(
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
                )

    def product(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors, given = pytree.tree_flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if given != spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {given}, primal output: {spec}"
            )
        with torch.enable_grad():
            gradients = _gradients(outputs, fresh, vectors)
        result = pytree.tree_unflatten(gradients, pytree.tree_structure(primals))
        return _finish(result, fresh)

    value = _finish(output, fresh)
    return (value, product, _finish(aux, fresh)) if has_aux else (value, product)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The function's value, and how it changes when the primals (a tuple) move along the tangents.

    With `has_aux`: (value, change, aux). `strict` makes it an error if the value does not depend on the primals.
    """
    for name, values in (("primals", primals), ("tangents", tangents)):
        if not isinstance(values, tuple):
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected {name} to be a tuple. E.g. it should be valid to call "
                f"f(*primals)."
            )
        for leaf in pytree.tree_leaves(values):
            if not isinstance(leaf, torch.Tensor):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {name} to only contain Tensors, got {type(leaf)}"
                )
    if pytree.tree_structure(primals) != pytree.tree_structure(tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
            "example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{pytree.tree_structure(primals)} and tangents with structure {pytree.tree_structure(tangents)}"
        )
    if not pytree.tree_leaves(primals):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to contain at least one Tensor.")
    level = _C._enter_dual_level(True)
    try:
        leaves, spec = pytree.tree_flatten(primals)
        pairs = zip(leaves, pytree.tree_leaves(tangents), strict=True)
        # Copies, because writes in place change tangents, too.
        duals = [forward_ad._make_dual(primal, tangent.clone(), level) for primal, tangent in pairs]
        output = func(*pytree.tree_unflatten(duals, spec))
        aux = None
        if has_aux:
            output, aux = _unpack_aux(output, "jvp(f, primals, tangents)")
        outputs, spec = pytree.tree_flatten(output)
        for leaf in outputs:
            if not isinstance(leaf, torch.Tensor):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): expected f(*primals) to return only tensors, got unsupported type "
                    f"{type(leaf)}"
                )
        unpacked = [_C._unpack_dual(leaf, level) for leaf in outputs]
        if strict and any(change is None for _, change in unpacked):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        changes = filled([change for _, change in unpacked], [value for value, _ in unpacked])
        result = (
            pytree.tree_unflatten([value for value, _ in unpacked], spec),
            pytree.tree_unflatten(changes, spec),
        )
        still = pytree.tree_map_only(torch.Tensor, lambda leaf: _C._unpack_dual(leaf, level)[0], aux)
    finally:
        _C._exit_dual_level(level)
    return (*result, still) if has_aux else result


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The function's value, and the function of its changes along tangents: `func` runs once, its graph is kept."""
    with torch.enable_grad():
        tree, fresh = _fresh(primals, "linearize")
        output = func(*tree)
        outputs, spec = pytree.tree_flatten(output)
        _, product = linearized(outputs, fresh)

    def change(*tangents: Any) -> Any:
        leaves, given = pytree.tree_flatten(tangents)
        if given != pytree.tree_structure(primals):
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals "
                f"{pytree.tree_structure(primals)}"
            )
        for number, (tangent, primal) in enumerate(zip(leaves, fresh, strict=True)):
            for what in ("shape", "device", "dtype"):
                one, other = getattr(tangent, what), getattr(primal, what)
                if one != other:
                    raise RuntimeError(
                        f"tangent:{number} with {what} {one} in flattened pytree doesn't match the {what} {other} of "
                        f"the "
                        "corresponding primal."
                    )
        with torch.enable_grad():
            moved = filled(product(leaves), outputs)
        return _finish(pytree.tree_unflatten(moved, spec), fresh)

    return _finish(output, fresh), change


# ---------------------------------------------------------------------- Jacobians


def _jacobian(parts: list[list[Tensor]], chosen: Any, spec: Any) -> Any:
    """The derivatives of each output by each input, nested as the outputs are and, inside, as the inputs."""
    inner = pytree.tree_structure(chosen)
    return pytree.tree_unflatten([pytree.tree_unflatten(row, inner) for row in parts], spec)


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

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad():
            chosen, places = _split(argnums, args, "jacrev")
            tree, fresh = _fresh(chosen, "jacrev")
            output = func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs)
            aux = None
            if has_aux:
                output, aux = _unpack_aux(output, "jacrev(f)(*args)")
            outputs, spec = pytree.tree_flatten(output)
            for one in outputs:
                if not isinstance(one, torch.Tensor):
                    raise RuntimeError(
                        f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                        f"{type(one)}"
                    )
            parts = [
                [
                    x.new_zeros(one.shape + x.shape) if rows is None else rows
                    for rows, x in zip(jacobian_rows(one, fresh), fresh, strict=True)
                ]
                for one in outputs
            ]
        result = _finish(_jacobian(parts, chosen, spec), fresh)
        return (result, _finish(aux, fresh)) if has_aux else result

    return wrapped


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The same derivatives in forward mode: `func` runs once for each element of the arguments.

    `randomness` says nothing here: every run draws its own random numbers.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen, places = _split(argnums, args, "jacfwd")
        leaves, inner = pytree.tree_flatten(chosen)

        def of_leaves(*values: Any) -> Any:
            tree = pytree.tree_unflatten(list(values), inner)
            return func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs)

        still = [torch.zeros_like(leaf) for leaf in leaves]
        columns: list[list[Any]] = []
        for place, leaf in enumerate(leaves):
            columns.append([])
            for one in basis(leaf):
                tangents = tuple(one if other == place else zero for other, zero in enumerate(still))
                columns[-1].append(jvp(of_leaves, tuple(leaves), tangents, has_aux=has_aux))
        known = next((column[0] for column in columns if column), None)
        if known is None:  # of nothing: the results still have shapes
            known = jvp(of_leaves, tuple(leaves), tuple(still), has_aux=has_aux)
        outputs, spec = pytree.tree_flatten(known[0])
        parts = [
            [
                torch.stack([pytree.tree_leaves(each[1])[number] for each in column], -1).view(one.shape + leaf.shape)
                if column
                else one.new_zeros(one.shape + leaf.shape)
                for column, leaf in zip(columns, leaves, strict=True)
            ]
            for number, one in enumerate(outputs)
        ]
        result = _jacobian(parts, chosen, spec)
        return (result, known[2]) if has_aux else result

    return wrapped


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function of all second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: writes in place need not be removed for derivatives here."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError("functionalize(f, remove='...'): Valid options are 'mutations' or 'mutations_and_views'.")
    return func
