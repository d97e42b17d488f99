"""Random numbers on CUDA devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import _C
from torch.cuda._device import device_index, is_available

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Generator, Tensor
    from torch.cuda._device import Device


def _generator(device: Device) -> Generator:
    return _C._cuda_default_generator(device_index(device))


def _devices() -> range:
    return range(_C._cuda_device_count() if is_available() else 0)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; nothing without CUDA."""
    if is_available():
        _generator(None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices, at once or when CUDA is first used."""
    _C._cuda_manual_seed_all(int(seed))


def seed() -> None:
    """Seeds the current device's generator with a number that nobody chose."""
    if is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seeds the generators of all devices with one number that nobody chose."""
    if is_available():
        manual_seed_all(_generator(None).seed())


def initial_seed() -> int:
    """The seed that the current device's generator started from."""
    return _generator(None).initial_seed()


def get_rng_state(device: Device = "cuda") -> Tensor:
    """The state of a device's generator, a uint8 tensor on the CPU."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """The states of all devices' generators."""
    return [get_rng_state(index) for index in _devices()]


def set_rng_state(new_state: Tensor, device: Device = "cuda") -> None:
    """Continues a device's random numbers from what `get_rng_state` gave."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Continues all devices' random numbers from what `get_rng_state_all` gave."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
