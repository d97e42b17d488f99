"""A module called with other parameters than its own."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor
    from torch.nn.modules.module import Module

__all__ = ["functional_call"]


def _untie(module: Module, values: dict[str, Tensor]) -> dict[str, Tensor]:
    """The values, and each of them also under the other names that the module has for the same tensor."""
    groups: dict[int, list[str]] = {}
    for name, tensor in [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]:
        groups.setdefault(id(tensor), []).append(name)
    result = dict(values)
    for names in groups.values():
        given = [name for name in names if name in values]
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(given)}, which are tied.")
        if given:
            result.update(dict.fromkeys(names, values[given[0]]))
    return result


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Tensor], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Puts other tensors in the place of parameters and buffers, within a `with` block."""
    values = _untie(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        known = {
            *(name for name, _ in module.named_parameters(remove_duplicate=False)),
            *(name for name, _ in module.named_buffers(remove_duplicate=False)),
        }
        unexpected, missing = sorted(set(values) - known), sorted(known - set(values))
        if unexpected or missing:
            kinds = (("Unexpected", unexpected), ("Missing", missing))
            texts = [f"{kind} key(s): {', '.join(map(repr, keys))}." for kind, keys in kinds if keys]
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(texts))
    replaced: list[tuple[dict[str, Any], str, Any]] = []
    recurrent: list[Any] = []  # modules that keep their weights in a list of their own, too
    try:
        for path, value in values.items():
            owner_path, _, name = path.rpartition(".")
            owner = module.get_submodule(owner_path)
            store = owner._parameters if name in owner._parameters else owner._buffers
            if name not in store:
                raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
            replaced.append((store, name, store[name]))  # type: ignore[arg-type]
            store[name] = value  # type: ignore[assignment]
            if hasattr(owner, "_init_flat_weights") and owner not in recurrent:
                recurrent.append(owner)
        for owner in recurrent:
            owner._init_flat_weights()
        yield
    finally:
        for store, name, before in reversed(replaced):
            store[name] = before
        for owner in recurrent:
            owner._init_flat_weights()


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What `module` answers with these parameters and buffers for its own; by an older path, with a warning.

    `tie_weights`: tensors that the module has under two names are replaced together. `strict`: all must be given.
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
