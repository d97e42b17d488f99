"""Tensors and submodules of a module by name: put others in their place, and take them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor

# What stood under a name that had no tensor.
_MISSING = object()


def swap_tensor(module: nn.Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Any:
    """Puts `tensor` where the module has its parameter, buffer or attribute `name`; what was there before.

    A name that is missing is an AttributeError or, with `allow_missing`, an attribute from then on.
    """
    _check(module, nn.Module)
    if tensor is not _MISSING:
        _check(tensor, torch.Tensor)
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for store in (module._parameters, module._buffers, vars(module)):
        if name in store:
            before = store[name]
            if store is vars(module) and not isinstance(before, torch.Tensor):
                raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
            if tensor is _MISSING:
                del store[name]
            else:
                store[name] = tensor  # type: ignore[assignment]
            return before
    if not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    return _MISSING


def swap_submodule(module: nn.Module, name: str, submodule: nn.Module) -> nn.Module:
    """Puts `submodule` where the module has its submodule `name`; the one that was there before."""
    _check(module, nn.Module)
    _check(submodule, nn.Module)
    if "." in name:
        raise KeyError('submodule name can\'t contain "."')
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    module._modules[name] = submodule
    return _check(before, nn.Module)  # type: ignore[no-any-return]


def _check(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value} is not an instance of torch.{'nn.' if kind is nn.Module else ''}{kind.__name__}")
    return value


class NamedMemberAccessor:
    """A module's tensors and submodules by their names with dots."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def get_submodule(self, name: str) -> nn.Module:
        """The submodule, the module itself for an empty name."""
        found = self.module
        for part in name.split(".") if name else ():
            if not hasattr(found, part):
                raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
            found = _check(getattr(found, part), nn.Module)
        return found

    def _owner(self, path: str) -> tuple[nn.Module, str]:
        owner, _, name = path.rpartition(".")
        return self.get_submodule(owner), name

    def swap_submodule(self, path: str, value: nn.Module) -> nn.Module:
        """Puts a module in the place of another, which is returned."""
        return swap_submodule(*self._owner(path), value)

    def get_tensor(self, name: str) -> Tensor:
        """The tensor of that name."""
        owner, last = self._owner(name)
        if not hasattr(owner, last):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{last}`")
        return _check(getattr(owner, last), torch.Tensor)  # type: ignore[no-any-return]

    def set_tensor(self, name: str, value: Tensor) -> None:
        """Puts a tensor there, also where there is none yet."""
        self.swap_tensor(name, value, allow_missing=True)

    def del_tensor(self, name: str) -> None:
        """Takes the tensor away."""
        self.swap_tensor(name, _MISSING)  # type: ignore[arg-type]

    def swap_tensor(self, name: str, value: Tensor, allow_missing: bool = False) -> Any:
        """Puts a tensor in the place of another, which is returned."""
        owner, last = self._owner(name)
        return swap_tensor(owner, last, value, allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor]:
        """The tensors of these names."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor]) -> None:
        """Puts tensors there, as many as names."""
        self.set_tensors_dict(_paired(names, values))

    def set_tensors_dict(self, named_tensors: dict[str, Tensor]) -> None:
        """Puts tensors there."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Takes tensors away."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Tensor], allow_missing: bool = False) -> list[Tensor]:
        """Puts tensors in the places of others, which are returned."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in _paired(names, values).items()]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Tensor], allow_missing: bool = False
    ) -> tuple[dict[str, Tensor], list[str]]:
        """All of them, or none if one fails: the tensors from before, and the names that there were none of."""
        before: dict[str, Tensor] = {}
        try:
            for name, value in named_tensors.items():
                before[name] = self.swap_tensor(name, value, allow_missing)
        except Exception as error:
            for name, value in before.items():
                self.swap_tensor(name, value, allow_missing=True)
            raise RuntimeError(f"Failed to swap tensors of {type(self.module).__name__}.") from error
        return before, [name for name, value in before.items() if value is _MISSING]

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """The names of tensors that are not among `keys`, and those of `keys` that are no names of tensors."""
        given = set(keys)
        known = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(known - given), sorted(given - known)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The parameters with their names."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Parameters and buffers with their names."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterator[tuple[str, nn.Module]]:
        """The modules with their names."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _paired(names: Iterable[str], values: Iterable[Tensor]) -> dict[str, Tensor]:
    return dict(zip(names, values, strict=True))
