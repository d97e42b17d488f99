"""Other parameters and another state for an optimizer, for a while."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor
    from torch.optim.optimizer import Optimizer


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """A block in which an optimizer steps other parameters, with the state and the options of a `state_dict()`.

    The parameters stand in the order of those of the optimizer. What a step writes in place into them and the state is
    there afterwards; options that it changes are not. RuntimeError if the optimizer has made no step yet, or if the
    numbers of parameters or groups differ.
    """
    if not optimizer.state:
        raise RuntimeError("swap_in_optimizer_params_and_state requires initialized optimizer state.")
    groups = optimizer.param_groups
    saved_groups = swapin_optim_state["param_groups"]
    if len(saved_groups) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    if [len(group["params"]) for group in saved_groups] != [len(group["params"]) for group in groups] or len(
        swapin_parameters
    ) != sum(len(group["params"]) for group in groups):
        raise RuntimeError(
            "swap_in_optimizer_params_and_state requires the explicit parameter state to match optimizer.param_groups "
            "ordering."
        )
    numbers = chain.from_iterable(group["params"] for group in saved_groups)
    parameter_of = dict(zip(numbers, swapin_parameters.values(), strict=True))
    options_before, state_before = [dict(group) for group in groups], dict(optimizer.state)
    for group, saved in zip(groups, saved_groups, strict=True):
        group.update(saved, params=[parameter_of[number] for number in saved["params"]])
    optimizer.state.clear()
    for number, value in swapin_optim_state["state"].items():
        optimizer.state[parameter_of.get(number, number)] = dict(value) if isinstance(value, dict) else value
    try:
        yield
    finally:
        for group, options in zip(groups, options_before, strict=True):
            group.clear()
            group.update(options)
        optimizer.state.clear()
        optimizer.state.update(state_before)
