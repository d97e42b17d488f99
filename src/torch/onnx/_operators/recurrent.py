"""Recurrent networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, operator

_ACTIVATIONS = {
    "Sigmoid": torch.sigmoid,
    "Tanh": torch.tanh,
    "Relu": torch.relu,
    "Softplus": F.softplus,
    "Softsign": F.softsign,
}


def _directions(direction: str) -> list[bool]:
    known = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    if direction not in known:
        raise Refusal(f"direction {direction!r}")
    return known[direction]


def _functions(names: Any, default: list[str], ways: int) -> list[list[Any]]:
    chosen = list(names or default * ways)
    unknown = [name for name in chosen if name not in _ACTIVATIONS]
    if unknown or len(chosen) != len(default) * ways:
        raise Refusal(f"activations {chosen}")
    return [[_ACTIVATIONS[name] for name in chosen[way * len(default) :][: len(default)]] for way in range(ways)]


def _recurrence(
    x: Tensor, ways: list[bool], lengths: Tensor | None, states: list[Tensor], layout: int, size: int, step: Any
) -> tuple[Tensor, ...]:
    """`step(way, x_t, states) -> states` over time, for each way; what lies behind a sequence's end is zero."""
    x = x.transpose(0, 1) if layout else x
    states = [state.transpose(0, 1) if layout else state for state in states]
    time, batch = x.shape[:2]
    all_outputs, all_ends = [], []
    for way, backwards in enumerate(ways):
        state = [each[way] for each in states]
        outputs: list[Any] = [None] * time
        for t in reversed(range(time)) if backwards else range(time):
            new = step(way, x[t], state)
            if lengths is not None:
                on = (t < lengths).reshape(-1, 1)
                state = [torch.where(on, fresh, old) for fresh, old in zip(new, state, strict=True)]
                outputs[t] = torch.where(on, new[0], torch.zeros_like(new[0]))
            else:
                state = new
                outputs[t] = new[0]
        all_outputs.append(torch.stack(outputs) if outputs else torch.zeros(0, batch, size))
        all_ends.append(state)
    y = torch.stack(all_outputs, 1)
    ends = [torch.stack(parts) for parts in zip(*all_ends, strict=True)]
    if layout:
        return y.permute(2, 0, 1, 3), *(each.transpose(0, 1) for each in ends)
    return y, *ends


def _start(given: Tensor | None, x: Tensor, ways: int, size: int, layout: int) -> Tensor:
    if given is not None:
        return given
    batch = x.shape[0] if layout else x.shape[1]
    return torch.zeros((batch, ways, size) if layout else (ways, batch, size), dtype=x.dtype)


def _limit(x: Tensor, clip: float | None) -> Tensor:
    return x if clip is None else x.clamp(-clip, clip)


@operator("RNN")
def rnn(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    start: Tensor | None = None,
    *,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    ways, size = _directions(direction), r.shape[-1]
    functions = _functions(activations, ["Tanh"], len(ways))

    def step(way: int, x_t: Tensor, state: list[Tensor]) -> list[Tensor]:
        total = x_t @ w[way].T + state[0] @ r[way].T
        total = total if b is None else total + b[way, :size] + b[way, size:]
        return [functions[way][0](_limit(total, clip))]

    return _recurrence(x, ways, lengths, [_start(start, x, len(ways), size, layout)], layout, size, step)


@operator("GRU")
def gru(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    start: Tensor | None = None,
    *,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    ways, size = _directions(direction), r.shape[-1]
    functions = _functions(activations, ["Sigmoid", "Tanh"], len(ways))

    def step(way: int, x_t: Tensor, state: list[Tensor]) -> list[Tensor]:
        (hidden,) = state
        biases = torch.zeros(6 * size, dtype=x.dtype) if b is None else b[way]
        of_x = (x_t @ w[way].T + biases[: 3 * size]).split(size, -1)
        weights, shifts = r[way].split(size), biases[3 * size :].split(size)
        update, reset = (
            functions[way][0](_limit(of_x[part] + hidden @ weights[part].T + shifts[part], clip)) for part in (0, 1)
        )
        if linear_before_reset:
            candidate = of_x[2] + reset * (hidden @ weights[2].T + shifts[2])
        else:
            candidate = of_x[2] + (reset * hidden) @ weights[2].T + shifts[2]
        new = functions[way][1](_limit(candidate, clip))
        return [(1 - update) * new + update * hidden]

    return _recurrence(x, ways, lengths, [_start(start, x, len(ways), size, layout)], layout, size, step)


@operator("LSTM")
def lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    start: Tensor | None = None,
    memory: Tensor | None = None,
    peepholes: Tensor | None = None,
    *,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int = 0,
    input_forget: int = 0,
    layout: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    ways, size = _directions(direction), r.shape[-1]
    functions = _functions(activations, ["Sigmoid", "Tanh", "Tanh"], len(ways))

    def step(way: int, x_t: Tensor, state: list[Tensor]) -> list[Tensor]:
        hidden, cell = state
        total = x_t @ w[way].T + hidden @ r[way].T
        total = total if b is None else total + b[way, : 4 * size] + b[way, 4 * size :]
        entry, exit, forget, candidate = total.split(size, -1)
        gate, squash, last = functions[way]
        if peepholes is not None:
            of_entry, of_exit, of_forget = peepholes[way].split(size)
            entry, forget = entry + of_entry * cell, forget + of_forget * cell
        entry = gate(_limit(entry, clip))
        forget = 1 - entry if input_forget else gate(_limit(forget, clip))
        cell = forget * cell + entry * squash(_limit(candidate, clip))
        if peepholes is not None:
            exit = exit + of_exit * cell
        return [gate(_limit(exit, clip)) * last(cell), cell]

    starts = [_start(each, x, len(ways), size, layout) for each in (start, memory)]
    return _recurrence(x, ways, lengths, starts, layout, size, step)
