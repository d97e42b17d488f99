"""Translations of torch's functions to ONNX, one file per family; importing this fills the table."""

from torch.onnx._translations import (
    arithmetic,
    comparison,
    complex,
    convolution,
    creation,
    elementwise,
    indexing,
    linear,
    normalization,
    recurrent,
    reduction,
    resampling,
    shape,
)

__all__ = [
    "arithmetic",
    "comparison",
    "complex",
    "convolution",
    "creation",
    "elementwise",
    "indexing",
    "linear",
    "normalization",
    "recurrent",
    "reduction",
    "resampling",
    "shape",
]
