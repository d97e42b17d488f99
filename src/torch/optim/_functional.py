"""The functions `torch.optim.adam.adam` and their like: one step of lists of parameters, with their state in lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch.optim.optimizer import ElementwiseOptimizer

_PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}


def functional(kind: type[ElementwiseOptimizer], name: str, states: str, **fixed: Any) -> Callable[..., None]:
    """The function of an optimizer: `name(params, grads, *states, **options)`.

    `states` names the lists in their order, one state of each parameter per list; an empty list stands for none.
    What an option leaves out is the optimizer's default, or `fixed`.
    """
    listed = states.split()

    def step(params: list[Tensor], grads: list[Tensor], *lists: list[Any], **options: Any) -> None:
        update = kind.__new__(kind)
        group: dict[str, Any] = {"differentiable": False, "amsgrad": False, "lr": 0.0, **fixed, **options}
        for pair, names in _PAIRS.items():
            if names[0] in group:
                group[pair] = tuple(group.pop(one) for one in names)
        for place, (parameter, gradient) in enumerate(zip(params, grads, strict=True)):
            state = {
                key: values[place]
                for key, values in zip(listed, lists, strict=False)
                if len(values) and values[place] is not None
            }
            update._step_parameter(group, parameter, gradient, state)
            for key, values in zip(listed, lists, strict=False):
                if len(values) and key in state:
                    values[place] = state[key]

    step.__name__ = step.__qualname__ = name
    step.__doc__ = (
        f"One step of `torch.optim.{kind.__name__}`: `{name}(params, grads, {', '.join(listed)}, **options)`."
    )
    return step


def __getattr__(name: str) -> Any:
    """`torch.optim._functional.adam`, where distributed optimizers look for it."""
    from importlib import import_module

    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return getattr(import_module(f"torch.optim.{name}"), name)
    except ImportError:
        raise AttributeError(f"module 'torch.optim._functional' has no attribute '{name}'") from None
