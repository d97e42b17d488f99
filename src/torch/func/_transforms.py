"""Derivatives of functions of nested values."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch._functorch._batching import BatchLevel
from torch._functorch._levels import Level, RandomStates, bottom, like, on_all_levels
from torch.autograd import forward_ad
from torch.autograd._products import filled, gradients as products, linearized
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor


# ---------------------------------------------------------------------- leaves of one derivative


def _fresh(tree: Any, function: str) -> tuple[Any, list[Tensor]]:
    """The nested tensors as new ones to differentiate by; an outer derivative still flows through them.

    Inside `vmap` they are batches, so that each element has a gradient of its own.
    """
    leaves, spec = pytree.tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
    made = []
    for leaf in map(on_all_levels, leaves):
        plain = bottom(leaf)
        new = plain.view_as(plain) if plain.requires_grad else _C._detach_history(plain).requires_grad_()
        made.append(like(leaf, new))
    return pytree.tree_unflatten(made, spec), made


def _is_wanted_outside(tensor: Tensor, inner: set[Any], known: set[Any]) -> bool:
    """Whether the graph of a result reaches a leaf that is none of the derivative's own; nodes that do not are kept."""
    seen: set[Any] = set()
    pending = [tensor.grad_fn] if tensor.grad_fn is not None else []
    while pending:
        node = pending.pop()
        if node in seen or node in known:
            continue
        seen.add(node)
        edges = node.next_functions
        if not edges:
            variable = getattr(node, "variable", None)
            if variable is not None and id(variable) not in inner:
                return True
        pending += [following for following, _ in edges if following is not None]
    known |= seen
    return False


def _finish(tree: Any, fresh: Iterable[Tensor]) -> Any:
    """Results without the history that only the derivative's own leaves have; without any where none is recorded."""
    is_recorded = torch.is_grad_enabled()
    inner = {id(leaf) for leaf in map(bottom, fresh) if leaf.is_leaf}
    known: set[Any] = set()

    def strip(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return like(leaf, strip_plain(bottom(leaf)))

    def strip_plain(leaf: Any) -> Any:
        if not leaf.requires_grad:
            is_kept = True
        elif leaf.is_leaf:
            is_kept = id(leaf) not in inner
        else:
            is_kept = is_recorded and _is_wanted_outside(leaf, inner, known)
        result = leaf if is_kept else leaf.detach()
        for level, tangent in _C._tangents(leaf):
            _C._set_tangent(result, strip_plain(tangent), level)
        return result

    with _C.DisableTorchFunction():
        return pytree.tree_map(strip, tree)


def _gradients(outputs: list[Tensor], inputs: list[Tensor], vectors: list[Tensor]) -> list[Tensor]:
    """The gradients, recorded where somebody outside may differentiate by them; zeros where there are none."""
    with _C.DisableTorchFunction():  # what is asked of plain tensors is no business of levels
        inner = {id(leaf) for leaf in map(bottom, inputs) if leaf.is_leaf}
        known: set[Any] = set()
        is_recorded = any(bottom(vector).requires_grad for vector in vectors) or any(
            _is_wanted_outside(bottom(output), inner, known) for output in outputs
        )
    return filled(products(outputs, inputs, vectors, is_recorded), inputs)


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
        unpacked = [forward_ad._unpack_dual(leaf, level) for leaf in outputs]
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
        still = pytree.tree_map_only(torch.Tensor, lambda leaf: forward_ad._unpack_dual(leaf, level)[0], aux)
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

    `func` runs once for its result, and where that is more than one number, once more for a batch with an element for
    each; `chunk_size` runs it for so many of them at a time, which bounds the memory that it takes.

    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen, places = _split(argnums, args, "jacrev")

        def of(tree: Any) -> tuple[list[Tensor], Any, Any]:
            output, aux = func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs), None
            if has_aux:
                output, aux = _unpack_aux(output, "jacrev(f)(*args)")
            outputs, spec = pytree.tree_flatten(output)
            for one in outputs:
                if not isinstance(one, torch.Tensor):
                    raise RuntimeError(
                        f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                        f"{type(one)}"
                    )
            return outputs, spec, aux

        before = RandomStates()
        with torch.enable_grad():
            tree, fresh = _fresh(chosen, "jacrev")
            outputs, spec, aux = of(tree)
            count = sum(one.numel() for one in outputs)
            if count == 1:
                only = [one for one in outputs if one.numel()]
                rows = [row.unsqueeze(0) for row in _gradients(only, fresh, [torch.ones_like(only[0])])]
            else:
                after = RandomStates()
                parts = []
                for start in range(0, count, chunk_size or max(count, 1)):
                    before.restore()
                    parts.append(_rows(of, chosen, outputs, start, min(start + (chunk_size or count), count)))
                after.restore()
                rows = [torch.cat(column) if len(column) > 1 else column[0] for column in zip(*parts, strict=True)]
                rows = rows or [x.new_zeros(0, *x.shape) for x in fresh]
            sizes = [one.numel() for one in outputs]
            split = [row.split(sizes) for row in rows]
            blocks = [
                [part[number].view(one.shape + x.shape) for part, x in zip(split, fresh, strict=True)]
                for number, one in enumerate(outputs)
            ]
        result = _finish(_jacobian(blocks, chosen, spec), fresh)
        return (result, _finish(aux, fresh)) if has_aux else result

    return wrapped


def _rows(of: Callable[[Any], Any], chosen: Any, outputs: list[Tensor], start: int, end: int) -> list[Tensor]:
    """The derivatives of elements `start` to `end` of all outputs by each input, stacked: one backward of a batch."""
    with BatchLevel(end - start, "same", uniform=True) as level:
        tree, fresh = _fresh(chosen, "jacrev")
        results = of(tree)[0]
        vectors = [level.batched(weight) for weight in _unit_vectors(outputs, start, end)]
        found = [level.expanded(row) for row in _gradients([_at(level, one) for one in results], fresh, vectors)]
    return pytree.tree_leaves(_finish(found, [level.value(leaf) for leaf in fresh]))


def _at(level: Level, tensor: Tensor) -> Tensor:
    return tensor if level.has(tensor) else level.batched(level.expanded(tensor))


def _unit_vectors(tensors: list[Tensor], start: int, end: int) -> list[Tensor]:
    """Rows `start` to `end` of the identity over the elements of all tensors, for each the columns that are its own."""
    made, before = [], 0
    for tensor in tensors:
        size = tensor.numel()
        rows = torch.zeros(end - start, size, dtype=tensor.dtype, device=tensor.device)
        first, last = max(start, before), min(end, before + size)
        if first < last:
            rows[first - start : last - start, first - before : last - before].fill_diagonal_(1)
        made.append(rows.view(end - start, *tensor.shape))
        before += size
    return made


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The same derivatives in forward mode: `func` runs once, for a batch with an element for each of the arguments'.

    `randomness` is that of `vmap`.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen, places = _split(argnums, args, "jacfwd")
        leaves, inner = pytree.tree_flatten(chosen)

        def of_leaves(*values: Any) -> Any:
            tree = pytree.tree_unflatten(list(values), inner)
            return func(*_put(args, places, (tree,) if isinstance(argnums, int) else tree), **kwargs)

        sizes = [leaf.numel() for leaf in leaves]
        with BatchLevel(sum(sizes), randomness, uniform=True) as level:
            tangents = [level.batched(vectors) for vectors in _unit_vectors(leaves, 0, level.size)]
            _, changes, *aux = jvp(of_leaves, tuple(leaves), tuple(tangents), has_aux=has_aux)
            outputs, spec = pytree.tree_flatten(changes)
            columns = [level.expanded(change).split(sizes) for change in outputs]
            blocks = [
                [part.movedim(0, -1).reshape(one.shape + leaf.shape) for part, leaf in zip(row, leaves, strict=True)]
                for row, one in zip(columns, outputs, strict=True)
            ]
            still = pytree.tree_map(lambda one: one._value[0] if level.has(one) else one, aux)
        result = _jacobian(blocks, chosen, spec)
        return (result, still[0]) if has_aux else result

    return wrapped


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function of all second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: writes in place need not be removed for derivatives here."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError("functionalize(f, remove='...'): Valid options are 'mutations' or 'mutations_and_views'.")
    return func
