"""Values of every operator (op_db), and first gradients in float64."""

from __future__ import annotations

from functools import partial
from typing import Any

import op_db
import op_sample
from torch_golden import Case


def _values(row: op_sample.Op, sample: op_sample.Call, dtype: str, torch: Any) -> Any:
    args, kwargs, _ = op_sample.build(torch, sample, dtype)
    return op_sample.function_of(torch, row.path)(*args, **kwargs)


def _weighted_sum(torch: Any, outputs: Any) -> Any:
    """A scalar to which every element counts differently."""
    tensors = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    total = torch.zeros((), dtype=torch.float64)
    for tensor in tensors:
        if tensor.requires_grad:
            weights = torch.cos(torch.arange(tensor.numel(), dtype=torch.float64)).reshape(tensor.shape)
            total = total + (tensor * weights).sum()
    return total


def _gradients(row: op_sample.Op, sample: op_sample.Call, torch: Any) -> Any:
    args, kwargs, leaves = op_sample.build(torch, sample, "float64", gradients=True)
    _weighted_sum(torch, op_sample.function_of(torch, row.path)(*args, **kwargs)).backward()
    return [leaf.grad for leaf in leaves]


def _list_values(name: str, parts: tuple[op_sample.T, ...], dim: int, torch: Any) -> Any:
    tensors, _, _ = op_sample.build(torch, op_sample.call(*parts), "float32")
    arguments = (tensors,) if name in ("vstack", "hstack", "column_stack") else (tensors, dim)
    return getattr(torch, name)(*arguments)


CASES: dict[str, Case] = {}
for _key, _row, _sample, _dtype in op_db.samples():
    _rtol, _atol = op_sample.TOLERANCE.get(_dtype, op_sample.TOLERANCE["float32"])
    CASES[_key] = Case(partial(_values, _row, _sample, _dtype), _rtol * _row.scale, _atol * _row.scale)
for _number, (_name, _parts, _dim) in enumerate(op_db.LISTS):
    CASES[f"torch.{_name}-list{_number}"] = Case(partial(_list_values, _name, _parts, _dim))

GRADIENTS = {
    key: Case(partial(_gradients, row, sample), 1e-11 * row.gradient_scale, 1e-12 * row.gradient_scale)
    for key, row, sample, dtype in op_db.samples("float64")
    if row.gradient
}
