"""Settings for all pipes that a pipe is made of: shuffling, shares of several readers, seeds."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import torch
from torch.utils.data.graph import traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: dict[int, Any]) -> list[Any]:
    """The pipes of a graph of `traverse_dps`, each once."""
    found: dict[int, Any] = {}

    def visit(part: dict[int, Any]) -> None:
        for key, (pipe, sources) in part.items():
            if key not in found:
                found[key] = pipe
                visit(sources)

    visit(graph)
    return list(found.values())


def _has(pipe: Any, *names: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_sharding(datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = None) -> Any:
    """Gives those that deal out items their share, one of `num_of_instances`. RuntimeError if two do on one way."""

    def visit(graph: dict[int, Any], was_dealt: bool) -> None:
        for pipe, sources in graph.values():
            deals = _has(pipe, "apply_sharding")
            if deals and was_dealt:
                raise RuntimeError("Sharding twice on a single pipeline is likely unintended and will cause data loss.")
            if deals:
                more = () if sharding_group is None else (sharding_group,)
                pipe.apply_sharding(num_of_instances, instance_id, *more)
            visit(sources, was_dealt or deals)

    visit(traverse_dps(datapipe), False)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Switches those that shuffle on or off; None leaves them. If there is none to switch on: `datapipe.shuffle()`."""
    if shuffle is None:
        return datapipe
    shufflers = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _has(pipe, "set_shuffle", "set_seed")]
    if shuffle and not shufflers:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware "
            "that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: torch.Generator) -> Any:
    """Gives those that draw random numbers a seed each, from a generator."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has(pipe, "set_seed"):
            pipe.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Any) -> Any:
    """The old form of `apply_random_seed`."""
    return apply_random_seed(datapipe, rng)
