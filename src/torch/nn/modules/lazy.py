"""Modules that learn the sizes of their inputs in their first call."""

from __future__ import annotations

from typing import Any

from torch.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: parameters get their shapes from the first input, in `initialize_parameters`.

    A lazy class lists this first among its bases, holds `UninitializedParameter`s and `UninitializedBuffer`s, and says
    in `cls_to_become` what its instances are after the first call.

    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.zeros(4, 3)).shape
    torch.Size([4, 2])
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        for name, value in [*self._parameters.items(), *persistent.items()]:
            if value is not None:
                destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self: Any, state_dict: dict[str, Any], prefix: str, *unused: Any) -> None:
        """Gives parameters the shapes of what is about to be loaded."""
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            found = state_dict.get(prefix + name)
            if value is not None and found is not None and is_lazy(value) and not is_lazy(found):
                value.materialize(found.shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Gives parameters the shapes that suit an input; subclasses define it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer still lacks its shape."""
        return any(is_lazy(value) for value in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self: Any) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
