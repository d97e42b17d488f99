"""A module on several devices of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module behind `module`, which without CUDA devices, and with one, runs as it is.

    NotImplementedError in the call for several devices: run one process for each instead.

    >>> torch.nn.DataParallel(torch.nn.Linear(3, 2)).module
    Linear(in_features=3, out_features=2, bias=True)
    """

    module: Any
    device_ids: list[Any]

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[int | torch.device] | None = None,
        output_device: int | torch.device | None = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        if not torch.cuda.is_available():
            self.device_ids = []
            return
        ids = list(range(torch.cuda.device_count())) if device_ids is None else list(device_ids)
        if not ids:
            raise RuntimeError("no available devices were found")
        self.dim = dim
        self.device_ids = [_index(each) for each in ids]
        self.output_device = _index(ids[0] if output_device is None else output_device)
        self.src_device_obj = torch.device("cuda", self.device_ids[0])
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module answers."""
        if len(self.device_ids) > 1:
            raise NotImplementedError("DataParallel over several devices is not supported: run one process for each")
        if self.device_ids:
            inputs, kwargs = _move(inputs, self.src_device_obj), _move(kwargs, self.src_device_obj)
        return self.module(*inputs, **kwargs)


def _index(device: Any) -> int:
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return 0 if index is None else index


def _move(value: Any, device: torch.device) -> Any:
    """Tensors in tuples, lists and dictionaries, on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (tuple, list)):
        return type(value)(_move(item, device) for item in value)
    if isinstance(value, dict):
        return {key: _move(item, device) for key, item in value.items()}
    return value


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[int | torch.device] | None = None,
    output_device: int | torch.device | None = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """What `DataParallel(module, ...)` answers to `inputs`, a tensor or a tuple of arguments."""
    arguments = inputs if isinstance(inputs, tuple) else (inputs,) if inputs is not None else ()
    return DataParallel(module, device_ids, output_device, dim)(*arguments, **(module_kwargs or {}))
