"""Every operator under `vmap`: what the whole batch gives is what its elements give one by one, gradients as well."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import op_db
import pytest
from op_sample import build, function_of

import torch
from torch._functorch._batching import _rules
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 3
ROWS = [(key, row, sample) for key, row, sample, _ in op_db.samples("float64")]
# What gives every element another shape, asks for a value, or has elements write what is not theirs: PyTorch refuses
# it, too. Other memory under an element is ours alone to refuse.
REFUSED = ("vmap: It looks like", "vmap: inplace arithmetic", "vmap: resize_", "vmap: as_strided_")


RULES = _rules.RULES
DERIVATIVES = Path(__file__).parents[2] / "src" / "aten" / "derivatives.yaml"


SPACES = [
    torch.Tensor,
    *(getattr(torch._C, name) for name in ("_VariableFunctions", "_nn", "_linalg", "_fft", "_special")),
]


def _is_there(name: str) -> bool:
    return any(hasattr(space, name) for space in SPACES)


def test_rules_are_of_functions_that_are_there() -> None:
    assert len(RULES) > 500
    assert [
        name for name in RULES if not _is_there(name) and not _is_there(name.rstrip("_")) and not _is_there(f"{name}_")
    ] == []


def test_element_wise_operators_have_rules() -> None:
    """Those whose tangents are element-wise, as the project's own declarations say."""
    entries = DERIVATIVES.read_text(encoding="utf-8").split("\n- name: ")
    element_wise = [entry.lstrip('"') for entry in entries if "\n  forward: elementwise" in entry]
    names = {re.split(r"\W", entry)[0] for entry in element_wise}
    asked = {name for name in names if not name.startswith("_") and _is_there(name)}
    assert len(asked) > 70
    assert asked - set(RULES) == set()


def _batch(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """Elements like the tensor: numbers grow less, positions and masks change places."""
    if tensor.is_floating_point() or tensor.is_complex():
        elements = [tensor.detach() * (1 - index / 16) for index in range(SIZE)]
    else:
        elements = [tensor.roll(index) if tensor.dim() else tensor for index in range(SIZE)]
    return torch.stack(elements, dim)


def _flat(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _outcome(function: Callable[[], Any]) -> tuple[list[torch.Tensor] | None, Exception | None]:
    try:
        return _flat(function()), None
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError) as error:
        return None, error


def _ways(count: int) -> list[tuple[int | None, ...]]:
    """Where the elements of each tensor lie: in all of them, and in one of them at a time."""
    ways: list[tuple[int | None, ...]] = [(0,) * count, (-1,) * count]
    if count > 1:
        ways += [tuple(0 if place == chosen else None for place in range(count)) for chosen in range(count)]
    return ways


def _check(path: str, function: Callable[..., Any], tensors: list[torch.Tensor], dims: tuple[int | None, ...]) -> None:
    def inputs() -> list[torch.Tensor]:
        made = [
            each.detach().clone() if dim is None else _batch(each, dim) for each, dim in zip(tensors, dims, strict=True)
        ]
        return [each.requires_grad_(like.requires_grad) for each, like in zip(made, tensors, strict=True)]

    alone, together = inputs(), inputs()

    def elements() -> list[torch.Tensor]:
        pairs = list(zip(alone, dims, strict=True))
        rows = [
            _flat(function(*(each if dim is None else each.select(dim, index) for each, dim in pairs)))
            for index in range(SIZE)
        ]
        return [torch.stack(column) for column in zip(*rows, strict=True)]

    torch.manual_seed(0)
    expected, failure = _outcome(elements)
    torch.manual_seed(0)
    batched = torch.vmap(lambda *each: _flat(function(*each)), dims, randomness="different")
    found, error = _outcome(lambda: batched(*together))
    if failure is not None or (error is not None and str(error).startswith(REFUSED)):
        assert error is not None, f"{path}: elements fail with {failure}, the batch does not"
        return
    assert error is None, f"{path} {dims}: {error!r}"
    assert found is not None
    assert expected is not None
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10, equal_nan=True)
    assert [one.requires_grad for one in found] == [one.requires_grad for one in expected]
    for one, other in zip(_gradients(found, together), _gradients(expected, alone), strict=True):
        assert (one is None) == (other is None), f"{path} {dims}"
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9, equal_nan=True)


def _gradients(results: list[torch.Tensor], inputs: list[torch.Tensor]) -> list[Any]:
    """The gradients of a number that every element of the results has its own part in."""
    roots = [
        (result * torch.linspace(1, 2, result.numel(), dtype=torch.float64).view(result.shape)).abs().sum()
        for result in results
        if result.requires_grad
    ]
    leaves = [each for each in inputs if each.requires_grad]
    return list(torch.autograd.grad(roots, leaves, allow_unused=True)) if roots else []


@pytest.mark.parametrize(("key", "row", "sample"), ROWS, ids=[key for key, _, _ in ROWS])
def test_a_batch_gives_what_its_elements_give(key: str, row: Any, sample: Any) -> None:
    args, kwargs, _ = build(torch, sample, "float64", gradients=row.gradient)
    flat, spec = pytree.tree_flatten((args, kwargs))
    places = [place for place, leaf in enumerate(flat) if isinstance(leaf, torch.Tensor)]
    operator = function_of(torch, row.path)

    def function(*values: torch.Tensor) -> Any:
        given = list(flat)
        for place, value in zip(places, values, strict=True):
            given[place] = value
        named = pytree.tree_unflatten(given, spec)
        return operator(*named[0], **named[1])

    if not places:
        pytest.skip("it takes no tensor")
    for dims in _ways(len(places)):
        _check(row.path, function, [flat[place] for place in places], dims)
