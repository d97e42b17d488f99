"""Programs made at random of views, in-place writes, storages and hooks: what they show, write and differentiate."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from torch_golden import Case

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = 150
# PyTorch's as_strided makes tensors of negative sizes where another size is 0; this torch refuses them.
UNSETTLED = {("views", 109)}
STEPS = 12
# Numbers that are near a limit of something; those of which PyTorch makes symbols are tested in test_limits.py.
EDGES = (-1, 0, 1, 2, 3, 4, 5, 7, 2**31, 2**32, 2**33, 2**40)


def _is_small(x: Any) -> bool:
    """Whether a program can go on with it: its numbers can be listed, and multiplied."""
    return x.numel() <= 200 and all(number < 1000 for number in (*x.shape, *x.stride()))


class _Program:
    """One program: the same seed makes the same calls as long as their answers are the same."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.torch, self.random = torch, random.Random(seed)
        self.told: list[Any] = []

    def number(self) -> int:
        """Mostly small, sometimes hostile."""
        return self.random.choice(EDGES) if self.random.random() < 0.15 else self.random.randrange(4)

    def numbers(self, count: int) -> tuple[int, ...]:
        return tuple(self.number() for _ in range(count))

    def shape_like(self, x: Any) -> tuple[int, ...]:
        """Sizes that often hold as many elements as x."""
        shape = [*x.shape]
        self.random.shuffle(shape)
        if shape and self.random.random() < 0.5:
            shape[self.random.randrange(len(shape))] = -1
        return tuple(shape) if self.random.random() < 0.7 else self.numbers(self.random.randrange(1, 4))

    def choose_view(self, x: Any) -> Callable[[], Any]:
        dims = max(x.dim(), 1)
        dim = self.random.randrange(-dims - 1, dims + 1)
        a, b, c = self.numbers(3)
        count = self.random.randrange(1, 4)
        sizes, strides, shape = self.numbers(count), self.numbers(count), self.shape_like(x)
        order = list(range(x.dim()))
        self.random.shuffle(order)
        return self.random.choice(
            (
                lambda: x.as_strided(sizes, strides, a),
                lambda: x.as_strided(sizes, strides),
                lambda: x.view(shape),
                lambda: x.reshape(shape),
                lambda: x.expand((*sizes, *x.shape)),
                lambda: x.expand(sizes),
                lambda: x.narrow(dim, a, b),
                lambda: x.select(dim, a),
                lambda: x[a : a + b : max(c, 1)],
                lambda: x[..., a],
                lambda: x.unfold(dim, a, b),
                lambda: x.diagonal(a - 1),
                lambda: x.permute(order),
                lambda: x.transpose(dim, a),
                lambda: x.unsqueeze(dim),
                lambda: x.squeeze(),
                lambda: x.flatten(),
                lambda: x.t(),
                lambda: x.movedim(dim, a),
            )
        )

    def attempt(self, call: Callable[[], Any]) -> Any:
        """The call's result, or None; what came of it is told."""
        try:
            result = call()
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            self.told.append(type(error).__name__)
            return None
        self.told.append([list(result.shape), list(result.stride()) if result.numel() else [], result.storage_offset()])
        return result

    def run_views(self) -> list[Any]:
        """Views of views, and writes through them."""
        base = self.torch.arange(24.0)
        x = base.view(2, 3, 4)
        for _ in range(STEPS):
            result = self.attempt(self.choose_view(x))
            if result is None or not _is_small(result):
                continue
            x = result
            if self.random.random() < 0.3:
                value = float(self.random.randrange(100))
                self.attempt(lambda x=x, value=value: x.fill_(value))
        return [*self.told, base, x.clone()]

    def run_gradients(self) -> list[Any]:
        """Views and writes that are differentiated, with a hook on the way."""
        leaf = self.torch.arange(24.0, requires_grad=True)
        x = (leaf * 2).view(2, 3, 4)
        seen: list[Any] = []
        for step in range(STEPS):
            result = self.attempt(self.choose_view(x))
            if result is None or not _is_small(result) or result.numel() == 0:
                continue
            x = result
            if step == STEPS // 2:
                x.register_hook(lambda grad: seen.append(grad.clone()) or grad * 2)
            # Only where no element is shown twice: PyTorch writes such tensors in an order of its own.
            if self.random.random() < 0.3 and x.is_contiguous():
                self.attempt(lambda x=x: x.mul_(3.0))
        x.sum().backward()
        return [*self.told, seen, leaf.grad]

    def run_storage(self) -> list[Any]:
        """Tensors put onto storages, with sizes that may lie outside of them."""
        base = self.torch.arange(12.0)
        storage = base.untyped_storage()
        x = self.torch.zeros(2)
        for _ in range(STEPS):
            count = self.random.randrange(1, 4)
            offset, sizes = self.number(), tuple(max(size, 0) for size in self.numbers(count))
            strides = tuple(max(stride, 0) for stride in self.numbers(count))
            # PyTorch makes a storage larger for set_, this torch refuses: such calls are tested elsewhere.
            reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) + 1
            if offset < 0 or (0 not in sizes and 12 < reach < 2**59):
                continue
            result = self.attempt(lambda o=offset, n=sizes, t=strides: x.set_(storage, o, n, t))
            if result is not None and _is_small(x):
                self.told.append(x.clone())
        return [*self.told, base]


def _case(kind: str, seed: int) -> Case:
    return Case(lambda torch: getattr(_Program(torch, seed), f"run_{kind}")(), 1e-6, 1e-6)


CASES: dict[str, Case] = {
    f"{kind} {seed}": _case(kind, seed)
    for kind in ("views", "gradients", "storage")
    for seed in range(PROGRAMS)
    if (kind, seed) not in UNSETTLED
}
