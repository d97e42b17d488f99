"""Control flow, lists of tensors, optional values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.onnx._graph import DTYPES
from torch.onnx._operators.table import Refusal, check_size, numbers, operator

if TYPE_CHECKING:
    from collections.abc import Callable


@operator("If")
def if_(
    condition: Tensor, *, then_branch: Callable[..., list[Any]], else_branch: Callable[..., list[Any]]
) -> tuple[Any, ...]:
    return tuple((then_branch if bool(condition) else else_branch)())


@operator("Loop")
def loop(
    count: Tensor | None, condition: Tensor | None, *carried: Any, body: Callable[..., list[Any]]
) -> tuple[Any, ...]:
    state, rows = list(carried), None
    going = condition is None or bool(condition)
    step = 0
    while going and (count is None or step < int(count)):
        keep, *made = body(torch.tensor(step), torch.tensor(going), *state)
        state, new = made[: len(state)], made[len(state) :]
        rows = [[] for _ in new] if rows is None else rows
        for row, value in zip(rows, new, strict=True):
            row.append(value)
            check_size([len(row), value.numel()])
        going, step = bool(keep), step + 1
    return (*state, *(torch.stack(row) for row in rows or []))


@operator("Scan")
def scan(
    *inputs: Any,
    body: Callable[..., list[Any]],
    num_scan_inputs: int,
    scan_input_axes: Any = None,
    scan_input_directions: Any = None,
    scan_output_axes: Any = None,
    scan_output_directions: Any = None,
    directions: Any = None,
    opset: int = 9,
) -> tuple[Any, ...]:
    if opset < 9:
        return _scan_batches(*inputs, body=body, count=num_scan_inputs, directions=directions)
    state, over = list(inputs[: len(inputs) - num_scan_inputs]), inputs[len(inputs) - num_scan_inputs :]
    axes = list(scan_input_axes or [0] * len(over))
    backwards = list(scan_input_directions or [0] * len(over))
    length = over[0].shape[axes[0]]
    rows: list[list[Tensor]] = []
    for step in range(length):
        parts = [
            each.select(axis, length - 1 - step if back else step)
            for each, axis, back in zip(over, axes, backwards, strict=True)
        ]
        made = body(*state, *parts)
        state, new = made[: len(state)], made[len(state) :]
        rows = rows or [[] for _ in new]
        for row, value in zip(rows, new, strict=True):
            row.append(value)
            check_size([len(row), value.numel()])
    out_axes = list(scan_output_axes or [0] * len(rows))
    out_backwards = list(scan_output_directions or [0] * len(rows))
    stacked = [
        torch.stack(row[::-1] if back else row, axis)
        for row, axis, back in zip(rows, out_axes, out_backwards, strict=True)
    ]
    return (*state, *stacked)


def _scan_batches(
    lengths: Tensor | None, *inputs: Any, body: Callable[..., list[Any]], count: int, directions: Any
) -> tuple[Any, ...]:
    """Opset 8: every sequence of a batch by itself, over dimension 1."""
    if lengths is not None:
        raise Refusal("Scan of opset 8 with lengths")
    rows = [
        scan(*(each[place] for each in inputs), body=body, num_scan_inputs=count, scan_input_directions=directions)
        for place in range(inputs[0].shape[0])
    ]
    return tuple(torch.stack(column) for column in zip(*rows, strict=True))


# ---------------------------------------------------------------------- lists


@operator("SequenceConstruct")
def construct(*tensors: Tensor) -> list[Tensor]:
    return list(tensors)


@operator("SequenceEmpty")
def empty(*, dtype: int = 1) -> list[Tensor]:
    if dtype not in DTYPES:
        raise Refusal(f"type {dtype} is none of torch's")
    return []


@operator("SequenceAt")
def at(sequence: list[Tensor], position: Tensor) -> Tensor:
    try:
        return sequence[int(position)]
    except IndexError as error:
        raise Refusal(f"part {int(position)} of {len(sequence)}") from error


@operator("SequenceInsert")
def insert(sequence: list[Tensor], tensor: Tensor, position: Tensor | None = None) -> list[Tensor]:
    result = list(sequence)
    result.insert(len(result) if position is None else int(position), tensor)
    return result


@operator("SequenceErase")
def erase(sequence: list[Tensor], position: Tensor | None = None) -> list[Tensor]:
    result = list(sequence)
    del result[-1 if position is None else int(position)]
    return result


@operator("SequenceLength")
def length(sequence: list[Tensor]) -> Tensor:
    return torch.tensor(len(sequence))


@operator("ConcatFromSequence")
def concat_from_sequence(sequence: list[Tensor], *, axis: int, new_axis: int = 0) -> Tensor:
    return torch.stack(sequence, axis) if new_axis else torch.cat(sequence, axis)


@operator("SplitToSequence")
def split_to_sequence(x: Tensor, sizes: Tensor | None = None, *, axis: int = 0, keepdims: int = 1) -> list[Tensor]:
    if sizes is None:
        parts = list(x.split(1, axis))
        return parts if keepdims else [part.squeeze(axis) for part in parts]
    return list(x.split(int(sizes) if sizes.dim() == 0 else numbers(sizes), axis))


@operator("SequenceMap")
def sequence_map(sequence: list[Any], *others: Any, body: Callable[..., list[Any]]) -> Any:
    rows = [
        body(each, *(other[place] if isinstance(other, list) else other for other in others))
        for place, each in enumerate(sequence)
    ]
    columns = tuple([row[column] for row in rows] for column in range(len(rows[0]) if rows else 1))
    return columns if len(columns) > 1 else columns[0]


# ---------------------------------------------------------------------- optional values


@operator("Optional")
def optional(value: Any = None, *, type: Any = None) -> Any:
    return value


@operator("OptionalHasElement")
def has_element(value: Any = None) -> Tensor:
    return torch.tensor(value is not None)


@operator("OptionalGetElement")
def get_element(value: Any) -> Any:
    if value is None:
        raise Refusal("there is no value")
    return value
