"""Parameters with some of their elements held at 0, by masks."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to choose which elements stay; a hook that multiplies `NAME_orig` by `NAME_mask` before every call."""

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """1 for what stays of `t`, 0 for the rest; `default_mask` is 0 for what is gone already."""

    def apply_mask(self, module: Any) -> Tensor:
        """The parameter with its mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        result: Tensor = mask.to(dtype=original.dtype) * original
        return result

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes a parameter of a module, after what has pruned it before."""
        found = [
            (number, hook)
            for number, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(found) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}")
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if found:
            number, before = found[0]
            del module._forward_pre_hooks[number]
            container = PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if not found:
            parameter = module._parameters[name]
            module.register_parameter(name + "_orig", parameter)
            del module._parameters[name]
            default_mask = torch.ones_like(parameter)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores, default_mask)
        except Exception:
            if not found:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """`t` with the elements that go set to 0."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, torch.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Any) -> None:
        """Makes the pruned parameter an ordinary one; what was set to 0 stays so."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters[self._tensor_name + "_orig"]
        original.data = weight.data
        del module._parameters[self._tensor_name + "_orig"]
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other; each chooses among what the ones before it have left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for number, method in enumerate(args):
            if number == 0:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Adds one more. ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, which sees what the others have left."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            part: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            others = [dim for dim in range(t.dim()) if dim != method.dim % t.dim()]
            kept = mask.sum(others) != 0
            part = (*[slice(None)] * (method.dim % t.dim()), kept)
        elif method.PRUNING_TYPE == "global":
            part = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[part] = method.compute_mask(t[part], default_mask=mask[part]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter one with a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The default mask."""
        return default_mask


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0 <= float(amount) <= 1
    ):
        raise ValueError(f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative integer")


def _count(amount: Any, size: int) -> int:
    """How many of `size` go: a number, or a share. ValueError for more than there are."""
    if isinstance(amount, numbers.Integral):
        if amount > size:  # type: ignore[operator]
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
        return int(amount)
    return round(amount * size)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: `amount` of them, or a share of them (0.0 to 1.0)."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """0 for as many elements as wanted, drawn with equal chances."""
        wanted = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if wanted:
            mask.view(-1)[torch.rand_like(t).view(-1).topk(k=wanted).indices] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Prunes the elements of the smallest magnitudes: `amount` of them, or a share of them (0.0 to 1.0)."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """0 for the smallest elements."""
        wanted = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if wanted:
            mask.view(-1)[t.abs().view(-1).topk(k=wanted, largest=False).indices] = 0
        return mask


class RandomStructured(BasePruningMethod):
    """Prunes whole slices along `dim` at random: `amount` of them, or a share of them (0.0 to 1.0)."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """0 for as many slices as wanted."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        slices = t.shape[self.dim]
        wanted = _count(self.amount, slices)
        if wanted == 0:
            return default_mask
        kept = self._choose(t, slices, wanted).to(t.dtype)
        shape = [1] * t.dim()
        shape[self.dim] = slices
        return default_mask.to(dtype=t.dtype) * kept.reshape(shape)

    def _choose(self, t: Tensor, slices: int, wanted: int) -> Tensor:
        drawn = torch.rand(slices)
        return drawn > drawn.sort()[0][wanted - 1]


class LnStructured(RandomStructured):
    """Prunes the slices along `dim` of the smallest norms of order `n`: `amount` of them, or a share of them."""

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _choose(self, t: Tensor, slices: int, wanted: int) -> Tensor:
        others = [dim for dim in range(t.dim()) if dim != self.dim % t.dim()]
        norms = torch.norm(t, p=self.n, dim=others)
        kept = torch.zeros_like(norms)
        kept[norms.topk(k=slices - wanted, largest=True).indices] = 1
        return kept


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask is 0 for."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError("the mask must have the shape of the parameter")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """`module` with a mask of ones on its parameter `name`.

    >>> sorted(torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "bias").state_dict())
    ['bias_mask', 'bias_orig', 'weight']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """`module` with `amount` elements of its parameter `name`, or a share of them, pruned at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:
    """`module` with the `amount` elements, or a share, of its parameter `name` of the smallest magnitudes pruned."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """`module` with `amount` slices along `dim` of its parameter `name`, or a share of them, pruned at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: float | str, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """`module` with the `amount` slices along `dim`, or a share, of the smallest norms of order `n` pruned."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """`module` with a given mask on its parameter `name`."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Any, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes parameters, pairs of a module and a name, as if they were one."""
    pairs = list(parameters)
    scores = importance_scores or {}
    relevant = [scores.get(pair, getattr(*pair)) for pair in pairs]
    masks = [getattr(module, name + "_mask", torch.ones_like(getattr(module, name))) for module, name in pairs]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    joined = torch.cat([each.detach().reshape(-1) for each in relevant])
    final = container.compute_mask(joined, torch.cat([mask.reshape(-1) for mask in masks]))
    start = 0
    for module, name in pairs:
        parameter = getattr(module, name)
        custom_from_mask(module, name, final[start : start + parameter.numel()].view_as(parameter))
        start += parameter.numel()


def remove(module: Any, name: str) -> Any:
    """`module` with an ordinary parameter `name` again, with its zeros. ValueError where it is not pruned."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a parameter of a module, or of one below it, is pruned.

    >>> torch.nn.utils.prune.is_pruned(torch.nn.Linear(2, 1))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod) for each in module.modules() for hook in each._forward_pre_hooks.values()
    )
