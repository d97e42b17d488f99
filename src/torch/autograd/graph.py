"""The graph of a computation: its nodes and their hooks, and what it saves for backward."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from torch import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]

Node = _C.Node


class GradientEdge(NamedTuple):
    """Where a tensor's gradient comes in: a node, and the number of its input.

    `backward` and `grad` take one in the place of a tensor; so memory of the tensor may go.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor that requires a gradient."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        with torch.enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Counts an in-place write that torch has not seen, so that backward notices it."""
    if not isinstance(tensor, torch.Tensor) and not hasattr(tensor, "__iter__"):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in (tensor,) if isinstance(tensor, torch.Tensor) else tensor:
        _C._increment_version(one)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted: gradients are accumulated on the stream of the backward, so nothing can mismatch."""


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted: no work is captured into graphs of CUDA here, so no stream can be left out of one."""


@contextmanager
def _region_of_compiled_code() -> Iterator[None]:
    raise RuntimeError(
        "torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it has "
        "no effect in eager mode."
    )
    yield


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """The share of activations that compiled code may keep. RuntimeError when it is entered: code runs eagerly here,
    where `torch.utils.checkpoint` says what is kept.
    """
    if not 0 <= budget <= 1:
        raise ValueError(f"torch.autograd.graph.region_activation_memory_budget: must be in [0, 1], got {budget}")
    return _region_of_compiled_code()


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
        global _active
        if _disabled:
            raise RuntimeError(_disabled[-1])
        _C._push_saved_tensor_hooks(self.pack_hook, self.unpack_hook)
        _active += 1

    def __exit__(self, *exception: object) -> None:
        global _active
        _C._pop_saved_tensor_hooks()
        _active -= 1


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
_active = 0


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A block in which `saved_tensors_hooks` raises RuntimeError with this message; inside of one it raises at once."""
    if _active:
        raise RuntimeError(error_message)
    _disabled.append(error_message)
    try:
        yield
    finally:
        _disabled.pop()


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` gives: `clear()` does nothing, the copies belong to the graph."""

    def clear(self) -> None:
        """Nothing is kept outside of the graph."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """A block in which tensors that operators save may be written in place afterwards: what is saved is a copy."""
    with saved_tensors_hooks(lambda tensor: tensor.clone(), lambda copy: copy):
        yield _AllowMutationOnSavedContext()


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
    nodes = [get_gradient_edge(tensor).node for tensor in tensors]
    # What has come, by the number of the backward.
    found: dict[int, list[Tensor | None]] = {}
    missing: dict[int, int] = {}

    def hook_for(place: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            task = _C._current_graph_task_id()
            if task not in found:
                found.clear()
                missing.clear()
                found[task] = [None] * len(tensors)
                missing[task] = sum(map(_C._will_engine_execute_node, nodes))
                if mode == "any":
                    fn(gradient)
            found[task][place] = gradient
            missing[task] -= 1
            if mode == "all" and missing[task] == 0:
                fn(found[task])

        return hook

    return _MultiHandle([tensor.register_hook(hook_for(place)) for place, tensor in enumerate(tensors)])
