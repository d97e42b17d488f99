"""Items as batches, by a table of types that programs may add to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import torch

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
np_str_obj_array_pattern = re.compile(r"[SaUO]")
_Table = dict[type | tuple[type, ...], Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """Arrays and numbers of NumPy as tensors, containers gone through; everything else as it is."""
    kind = type(data)
    if isinstance(data, torch.Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_", "bytes_"):
        if kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(data.dtype.str) is not None:
            return data
        return torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(value) for value in data])
    return data


def _like(container: Any, values: Any) -> Any:
    """`values`, a dict or a list, in a container of the same kind; as they are, if none can be made."""
    kind = type(container)
    if kind in (dict, list):
        return values
    try:
        if isinstance(container, Mapping):
            if not hasattr(container, "update"):
                return kind(values)  # type: ignore[call-arg]
            clone: Any = copy(container)
            clone.update(values)
            return clone
        return kind(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def collate(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """Items as one batch, by the function that `collate_fn_map` has for their type; containers are gone through.

    Raises TypeError for other types, RuntimeError for items of different lengths.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if collate_fn_map is default_collate_fn_map and kind.__module__ == "numpy":
            _add_numpy()
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for types, function in collate_fn_map.items():
            if isinstance(first, types):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like(
            first, {key: collate([item[key] for item in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        columns = zip(*batch, strict=False)
        return kind(*(collate(samples, collate_fn_map=collate_fn_map) for samples in columns))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        collated = [collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch, strict=True)]
        return collated if isinstance(first, tuple) else _like(first, collated)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """Stacks tensors."""
    return torch.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """Stacks arrays. TypeError for arrays of text or objects."""
    first = batch[0]
    if np_str_obj_array_pattern.search(first.dtype.str) is not None:
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return collate([torch.as_tensor(item) for item in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """A tensor of NumPy's numbers."""
    return torch.as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """A tensor of float64."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """A tensor of integers."""
    return torch.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: _Table | None = None) -> Any:
    """The texts as they are."""
    return batch


default_collate_fn_map: _Table = {
    torch.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Items as one batch: tensors and arrays are stacked, numbers become tensors, containers are gone through.

    Raises TypeError for other types, RuntimeError for items of different lengths.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _add_numpy() -> None:
    """Adds NumPy's types, once something of NumPy's comes: `import torch` does without it."""
    import numpy

    default_collate_fn_map.setdefault(numpy.ndarray, collate_numpy_array_fn)
    default_collate_fn_map.setdefault((numpy.bool_, numpy.number, numpy.object_), collate_numpy_scalar_fn)
