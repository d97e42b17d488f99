"""Handles that take hooks away again."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class RemovableHandle:
    """Returned when a hook is registered in a dictionary; `remove()`, or leaving a `with` block, takes it out."""

    _next_id = 0

    def __init__(self, hooks: dict[int, Any], *, extra: tuple[Any, ...] = ()) -> None:
        self.id = RemovableHandle._next_id
        RemovableHandle._next_id += 1
        self._hooks = [hooks, *extra]

    def hooks_dict_ref(self) -> Any:
        """The dictionary that the hook is in."""
        return self._hooks[0]

    def remove(self) -> None:
        """Takes the hook out; a second call does nothing."""
        for hooks in self._hooks:
            if isinstance(hooks, dict):
                hooks.pop(self.id, None)
            else:
                hooks.discard(self.id)

    def __getstate__(self) -> tuple[Any, ...]:
        """As PyTorch's: the dictionary, the number, and further dictionaries if there are any."""
        first, *others = self._hooks
        return (first, self.id, tuple(others)) if others else (first, self.id)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._hooks = [{} if state[0] is None else state[0], *(state[2] if len(state) > 2 else ())]
        self.id = state[1]
        RemovableHandle._next_id = max(RemovableHandle._next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class TensorHookHandle:
    """Returned by `Tensor.register_hook`; does not keep the tensor alive."""

    def __init__(self, tensor: Tensor, number: int) -> None:
        self._tensor: Callable[[], Tensor | None] = weakref.ref(tensor)
        self.id = number

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        tensor = self._tensor()
        if tensor is not None:
            tensor._remove_grad_hook(self.id)
        self._tensor = _gone

    def __enter__(self) -> TensorHookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class NodeHookHandle:
    """Returned by `register_hook` and `register_prehook` of a node."""

    def __init__(self, node: Any, number: int, before: bool) -> None:
        self._node, self.id, self._before = node, number, before

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        self._node._remove_hook(self.id, self._before)

    def __enter__(self) -> NodeHookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _gone() -> None:
    return None


def unserializable_hook(f: Any) -> Any:
    """Marks a hook that is not to be saved with its tensor."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Nothing: a tensor does not tell of its hooks, which are never saved with it."""
