"""unbind, split and chunk: several views of one tensor, which have one node."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Parts = Callable[[torch.Tensor], Sequence[torch.Tensor]]

VIEWS: dict[str, tuple[Parts, str]] = {
    "unbind": (lambda x: x.unbind(1), "Unbind"),
    "iteration": (list, "Unbind"),
    "split": (lambda x: x.split(3), "Split"),
    "split with sizes": (lambda x: x.split([1, 3]), "SplitWithSizes"),
    "split_with_sizes": (lambda x: x.split_with_sizes([1, 2], 1), "SplitWithSizes"),
    "chunk": (lambda x: x.chunk(2, -1), "Split"),
}
APART: dict[str, Parts] = {
    "unsafe_split": lambda x: x.unsafe_split(3),
    "unsafe_chunk": lambda x: x.unsafe_chunk(2),
    "unsafe_split_with_sizes": lambda x: torch.unsafe_split_with_sizes(x, [1, 3]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_parts_are_views_that_are_not_written(name: str) -> None:
    parts, node = VIEWS[name]
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    results = parts(x * 1)
    assert results[0].grad_fn is not None
    assert {result.grad_fn for result in results} == {results[0].grad_fn}
    assert (results[1].grad_fn.name(), results[1].output_nr, results[1]._is_view()) == (f"{node}Backward0", 1, True)
    with pytest.raises(RuntimeError, match=f"Output 1 of {node} is a view and is being modified inplace"):
        results[1].add_(1)
    plain = torch.zeros(4, 3)
    parts(plain)[1].add_(1)
    assert plain.sum() == parts(plain)[1].numel()


@pytest.mark.parametrize("name", APART)
def test_unsafe_parts_are_written(name: str) -> None:
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    part = APART[name](x * 1)[1]
    assert not part._is_view()
    part.mul_(3)
    (gradient,) = torch.autograd.grad(part.sum(), x)
    assert gradient.sum() == 3 * part.numel()


@pytest.mark.parametrize("name", [*VIEWS, *APART])
def test_gradients_of_some_parts_and_of_all(name: str) -> None:
    parts = APART[name] if name in APART else VIEWS[name][0]
    x = torch.arange(12.0, dtype=torch.float64).reshape(4, 3).requires_grad_()
    (every,) = torch.autograd.grad([(index + 2) * part for index, part in enumerate(parts(x))],
                                   x, [torch.ones_like(part) for part in parts(x)])  # fmt: skip
    expected = torch.zeros(4, 3, dtype=torch.float64)
    with torch.no_grad():
        for index, part in enumerate(parts(expected)):
            part += index + 2
    assert torch.equal(every, expected)
    for index, part in enumerate(parts(x)):
        (one,) = torch.autograd.grad(part.sum(), x)
        assert torch.equal(one, (expected == index + 2).to(torch.float64))
    assert torch.autograd.gradcheck(lambda v: tuple(parts(v))[:2], x)
    assert torch.autograd.gradgradcheck(lambda v: [part**2 for part in parts(v)], x)


def test_along_tangents_and_nested() -> None:
    v = torch.arange(3.0) + 1
    assert [each.tolist() for each in torch.func.jvp(lambda v: v.unbind()[1] * v.split(1)[0], (v,), (v,))] == [[2], [4]]
    function = lambda v: (v.unbind()[1] * v.split(1)[0]).sum() + (v.split([1, 2])[1] ** 3).sum()  # noqa: E731
    assert torch.func.hessian(function)(v).tolist() == [[0, 1, 0], [1, 12, 0], [0, 0, 18]]
    batched = torch.func.vmap(lambda v: v.unbind()[1] + v.split(2)[0].sum() + v.chunk(2)[1].sum())
    assert batched(torch.arange(12.0).reshape(3, 4)).tolist() == [7, 27, 47]


def test_parts_of_nothing_of_zeros_and_of_no_memory() -> None:
    nothing = torch.zeros(0, 3, requires_grad=True)
    assert nothing.unbind() == ()
    assert [part.shape for part in nothing.split(2)] == [(0, 3)]
    assert [part.shape for part in nothing.chunk(2)] == [(0, 3), (0, 3)]
    assert torch.autograd.grad([part.sum() for part in nothing.chunk(2)], nothing)[0].shape == (0, 3)
    assert torch.eye(3).to_sparse().unbind()[0].to_dense().tolist() == [1, 0, 0]
    assert torch.ones(2, 3, device="meta").unbind()[0].shape == (3,)


def test_many_parts_cost_no_more_than_their_elements() -> None:
    """One gradient of the whole tensor per part would take a thousand times as long."""
    x = torch.zeros(2000, 500, requires_grad=True)

    def seconds(function: Callable[[], torch.Tensor]) -> float:
        start = time.process_time()
        function().backward()
        return time.process_time() - start

    whole = min(seconds(lambda: (x * 2).sum()) for _ in range(3))
    for parts in (lambda: x.unbind(), lambda: x.split(1), lambda: x.split([1] * 2000)):
        assert min(seconds(lambda: torch.stack([part.sum() for part in parts()]).sum()) for _ in range(3)) < (  # noqa: B023
            100 * whole + 0.2
        )
