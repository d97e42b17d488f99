"""Weights as a length and a direction: the older way, by a hook. The newer one is a parametrization."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from torch.nn.parameter import Parameter, UninitializedParameter

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except(v: Tensor, dim: int | None) -> Tensor:
    """The norm over all dimensions but one, of size 1 in the others; over all with None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    others = [number for number in range(v.dim()) if number != dim % v.dim()]
    return v.norm(2, others, keepdim=True) if others else v.abs()


class WeightNorm:
    """The hook that computes `weight` of `weight_g` and `weight_v` before every call."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """g * v / |v|."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        result: Tensor = v * (g / norm_except(v, self.dim))
        return result

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Puts the hook on a module. RuntimeError where the parameter has one."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        norm = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except(weight, norm.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, norm.compute_weight(module))
        module.register_forward_pre_hook(norm)
        return norm

    def remove(self, module: Any) -> None:
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """`module` with its parameter `name` as a length `NAME_g` and a direction `NAME_v`, by a hook; with a warning.

    `dim`: the dimension that has a length for each element; None: one for all.

    >>> layer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2))
    >>> layer.weight_g.shape, layer.weight_v.shape
    (torch.Size([2, 1]), torch.Size([2, 3]))
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """`module` with an ordinary parameter `name` again. ValueError where it has no hook."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
