"""The memory formats of convolutions' weights."""

from __future__ import annotations

from typing import Any

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    if isinstance(module, kinds):
        weight = module.weight.detach().clone()  # type: ignore[attr-defined]
        module.weight.data = weight.contiguous(memory_format=memory_format)  # type: ignore[attr-defined]
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """`module` with the weights of all Conv2d and ConvTranspose2d in a memory format."""
    from torch.nn.modules.conv import Conv2d, ConvTranspose2d

    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """`module` with the weights of all Conv3d and ConvTranspose3d in a memory format."""
    from torch.nn.modules.conv import Conv3d, ConvTranspose3d

    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
