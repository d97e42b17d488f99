"""The random numbers' seeds and states. Numbers and states are those of PyTorch for the same seed.

Seeding does not load the CUDA plug-in: the seed is kept for the time when it is loaded.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

default_generator = _C.default_generator


def manual_seed(seed: int) -> _C.Generator:
    """Seeds the generators of all devices and returns the CPU's. Negative seeds count from 2**64 downwards."""
    seed = int(seed)
    _C._cuda_manual_seed_all(seed)
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seeds the generators of all devices with a number of the operating system, and returns it."""
    value = default_generator.seed()
    _C._cuda_manual_seed_all(value)
    return value


def initial_seed() -> int:
    """The seed that the CPU's generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> torch.Tensor:
    """The state of the CPU's generator, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: torch.Tensor) -> None:
    """Continues the CPU's random numbers from what `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Iterable[int] | None = None, enabled: bool = True) -> Iterator[None]:
    """Puts the generators' states back when the block ends. `devices`: CUDA devices, default all in use."""
    if not enabled:
        yield
        return
    in_use = range(torch.cuda.device_count()) if _C._cuda_is_loaded() else ()
    numbers = list(in_use if devices is None else devices)
    state = get_rng_state()
    cuda_states = [torch.cuda.get_rng_state(number) for number in numbers]
    try:
        yield
    finally:
        set_rng_state(state)
        for number, cuda_state in zip(numbers, cuda_states, strict=True):
            torch.cuda.set_rng_state(cuda_state, number)


def thread_safe_generator() -> _C.Generator | None:
    """The generator of a thread that loads data; None here, where processes do, and `default_generator` is theirs."""
    return None
