"""ONNX's operators as functions of torch, one file per family; importing this fills `TABLE`."""

from torch.onnx._operators import (
    attention,
    elements,
    losses,
    normalizations,
    places,
    products,
    recurrent,
    reductions,
    resampling,
    sequences,
    shapes,
    spectra,
    windows,
)
from torch.onnx._operators.table import TABLE, Refusal, limited_by

__all__ = [
    "TABLE",
    "Refusal",
    "attention",
    "elements",
    "limited_by",
    "losses",
    "normalizations",
    "places",
    "products",
    "recurrent",
    "reductions",
    "resampling",
    "sequences",
    "shapes",
    "spectra",
    "windows",
]
