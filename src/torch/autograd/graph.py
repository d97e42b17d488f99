"""The graph of a computation: its nodes and their hooks, and what it saves for backward."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

Node = _C.Node


class GradientEdge(NamedTuple):
    """Where a tensor's gradient comes in: a node, and the number of its input."""

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor that requires a gradient."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        with torch.enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)


class saved_tensors_hooks:
    """A block in which `pack_hook(tensor)` is kept in place of what operators save for backward.

    `unpack_hook` gets what was kept, and returns a tensor of the same values.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
    ...     y = x.exp()
    >>> y.sum().backward()
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _disabled:
            raise RuntimeError(_disabled[-1])
        _C._push_saved_tensor_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _C._pop_saved_tensor_hooks()


class save_on_cpu(saved_tensors_hooks):
    """A block in which what is saved for backward is kept on the CPU, and comes back when it is used."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> Any:
            return tensor.device, tensor.cpu()

        def unpack(packed: Any) -> Tensor:
            device, tensor = packed
            moved: Tensor = tensor.to(device)
            return moved

        super().__init__(pack, unpack)


_disabled: list[str] = []


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A block in which `saved_tensors_hooks` raises RuntimeError with this message."""
    _disabled.append(error_message)
    try:
        yield
    finally:
        _disabled.pop()


class _MultiHandle:
    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Takes all of the hooks away."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all") -> _MultiHandle:
    """Calls `fn` once in a backward: with all gradients when the last has come ("all"), or with the first ("any")."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    found: list[Tensor | None] = [None] * len(tensors)
    count = 0

    def hook_for(place: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            nonlocal count
            count += 1
            found[place] = gradient
            if mode == "any":
                if count == 1:
                    fn(gradient)
                if count == len(tensors):
                    count = 0
            elif count == len(tensors):
                given = list(found)
                count, found[:] = 0, [None] * len(tensors)
                fn(given)

        return hook

    return _MultiHandle([tensor.register_hook(hook_for(place)) for place, tensor in enumerate(tensors)])
