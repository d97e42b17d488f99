"""State dicts: what a module saves and loads."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns: the keys that it missed and those that it did not know."""

    __slots__ = ()

    def __repr__(self) -> str:
        return (
            "<All keys matched successfully>" if not (self.missing_keys or self.unexpected_keys) else super().__repr__()
        )

    __str__ = __repr__


class StateDictMixin:
    """The part of `Module` that reads and writes state dicts."""

    _version = 1

    def get_extra_state(self) -> Any:
        """Anything else to save; a subclass that defines it defines `set_extra_state`, too."""
        raise RuntimeError("get_extra_state is not defined")

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` gave."""
        raise RuntimeError("set_extra_state is not defined")

    def _save_to_state_dict(self: Any, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not StateDictMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(
        self: Any, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Path -> tensor, sharing memory with all parameters and persistent buffers; detached unless `keep_vars`."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = replaced
        return destination  # type: ignore[no-any-return]

    def _load_from_state_dict(
        self: Any,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own entries; what is wrong is appended to the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        for name, own in [*self._parameters.items(), *persistent.items()]:
            key = prefix + name
            if own is None:
                continue
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            error = self._load_tensor(name, key, own, state_dict[key], assign)
            if error:
                error_msgs.append(error)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != prefix + _EXTRA_STATE:
                    first, _, rest = key[len(prefix) :].partition(".")
                    if (rest and first not in self._modules) or (
                        not rest and first not in self._known_names(persistent)
                    ):
                        unexpected_keys.append(key)

    def _known_names(self: Any, persistent: dict[str, Any]) -> set[str]:
        named = {**self._parameters, **persistent}
        return {name for name, value in named.items() if value is not None}

    def _load_extra_state(
        self: Any, state_dict: dict[str, Any], prefix: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        key = prefix + _EXTRA_STATE
        if type(self).set_extra_state is not StateDictMixin.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    def _load_tensor(self: Any, name: str, key: str, own: Tensor, value: Any, assign: bool) -> str | None:
        """Copies (or assigns) one entry; returns the error's text."""
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        if own.dim() == 0 and value.dim() == 1 and value.numel() == 1:
            value = value[0]  # checkpoints of PyTorch before 0.4 hold numbers so
        if value.shape != own.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {own.shape}."
            )
        if own.is_meta and not value.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        try:
            with torch.no_grad():
                if torch.__future__.get_swap_module_params_on_conversion():
                    new = own.module_load(value, assign=assign)
                    if new is own or new is value:
                        new = new.detach()
                    if isinstance(own, Parameter):
                        new = Parameter(new, own.requires_grad)
                    torch.utils.swap_tensors(own, new)
                elif not assign:
                    own.copy_(value)
                elif isinstance(own, Parameter):
                    new = value if isinstance(value, Parameter) else Parameter(value, own.requires_grad)
                    setattr(self, name, new.requires_grad_(own.requires_grad))
                else:
                    setattr(self, name, value)
        except Exception as error:
            swaps = assign or torch.__future__.get_swap_module_params_on_conversion()
            action = "swapping" if swaps else "copying"
            return (
                f'While {action} the parameter named "{key}", whose dimensions in the model are {own.size()} and '
                f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )
        return None

    def load_state_dict(
        self: Any, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copies a state dict into parameters and buffers, or puts its tensors in their place (`assign`).

        `strict`: keys must match exactly. Everything wrong is reported at once, in a RuntimeError.
        """
        from collections.abc import Mapping

        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        entries: dict[str, Any] = OrderedDict(state_dict)
        if metadata is not None:
            entries._metadata = metadata  # type: ignore[attr-defined]

        # A function that calls itself would keep the entries alive: it is no inner one.
        _load_part(self, entries, "", metadata, assign, missing, unexpected, errors)
        if strict:
            for kind, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    listed = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{kind} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)


def _load_part(
    module: Any,
    part: dict[str, Any],
    prefix: str,
    metadata: Any,
    assign: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    """Loads the entries whose keys begin with `prefix` into a module and those below it."""
    local = dict(metadata.get(prefix[:-1], {})) if metadata is not None else {}
    if assign:
        local["assign_to_params_buffers"] = assign
    # Missing and unexpected keys are collected in any case; `strict` decides whether they are errors.
    module._load_from_state_dict(part, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            entries = {key: value for key, value in part.items() if key.startswith(inner)}
            _load_part(child, entries, inner, metadata, assign, missing, unexpected, errors)
    incompatible = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise RuntimeError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                "values, if incompatible_keys need to be modified, it should be done inplace."
            )
