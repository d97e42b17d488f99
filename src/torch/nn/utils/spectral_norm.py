"""Weights divided by their largest singular value: the older way, by a hook. The newer one is a parametrization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional.normalization import normalize
from torch.nn.parameter import Parameter, UninitializedParameter

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that computes `weight` of `weight_orig` and two vectors, `weight_u`, `weight_v`, before every call."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name, self.dim, self.eps = name, dim, eps
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with `dim` as rows, and all else as columns."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """The weight over its largest singular value; the vectors are improved in place first."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        result: Tensor = weight / torch.dot(u, torch.mv(matrix, v))
        return result

    def remove(self, module: Any) -> None:
        """Makes the weight a parameter again."""
        with torch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        product = matrix.t() @ u
        return product * (target_sigma / torch.dot(u, torch.mv(matrix, product)))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Puts the hook on a module. RuntimeError where the parameter has one."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        norm = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with torch.no_grad():
            rows, columns = norm.reshape_weight_to_matrix(weight).size()
            u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=norm.eps)
            v = normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=norm.eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(norm)
        module._register_state_dict_hook(_StateDictHook(norm))
        module._register_load_state_dict_pre_hook(_LoadStateDictHook(norm))
        return norm


class _LoadStateDictHook:
    """Reads the state dicts of versions that did not keep v."""

    def __init__(self, norm: SpectralNorm) -> None:
        self.norm = norm

    def __call__(self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any,
                 unexpected_keys: Any, error_msgs: Any) -> None:  # fmt: skip
        norm, key = self.norm, prefix + self.norm.name
        if local_metadata.get("spectral_norm", {}).get(norm.name + ".version") is not None:
            return
        keys = [key + suffix for suffix in ("_orig", "", "_u")]
        if any(each not in state_dict for each in keys) or key + "_v" in state_dict:
            return
        with torch.no_grad():
            original, weight, u = state_dict[keys[0]], state_dict.pop(key), state_dict[keys[2]]
            sigma = (original / weight).mean()
            matrix = norm.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = norm._solve_v_and_rescale(matrix, u, sigma)


class _StateDictHook:
    """Notes the version in state dicts."""

    def __init__(self, norm: SpectralNorm) -> None:
        self.norm = norm

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.norm.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.norm._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """`module` with its parameter `name` divided by its largest singular value before every call, by a hook.

    The value is estimated by power iterations, `n_power_iterations` for every call in training. `dim`: the dimension of
    the weight's outputs; 1 for transposed convolutions and 0 for others where it is not given.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    from torch.nn.modules.conv import _ConvTransposeNd

    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """`module` with an ordinary parameter `name` again. ValueError where it has no hook."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in (
        (module._state_dict_hooks, _StateDictHook),
        (module._load_state_dict_pre_hooks, _LoadStateDictHook),
    ):
        for number, hook in list(hooks.items()):
            inner = getattr(hook, "hook", hook)
            if isinstance(inner, kind) and inner.norm.name == name:
                del hooks[number]
    return module
