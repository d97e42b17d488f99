"""Rules of recurrent networks: elements join the sequences, or, where each has weights of its own, go step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch._rules import loop, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch._functorch._levels import Level

_State = tuple[Tensor, ...]


def _lstm(gates: Tensor, state: _State, w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> _State:
    entry, keep, cell, leave = (gates + torch.nn.functional.linear(state[0], w_hh, b_hh)).chunk(4, -1)
    memory = keep.sigmoid() * state[1] + entry.sigmoid() * cell.tanh()
    hidden = leave.sigmoid() * memory.tanh()
    return (hidden if w_hr is None else torch.nn.functional.linear(hidden, w_hr)), memory


def _gru(gates: Tensor, state: _State, w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> _State:
    own = torch.nn.functional.linear(state[0], w_hh, b_hh).chunk(3, -1)
    reset, update, new = gates.chunk(3, -1)
    candidate = (new + (reset + own[0]).sigmoid() * own[2]).tanh()
    return (candidate + (update + own[1]).sigmoid() * (state[0] - candidate),)


def _simple(function: Callable[[Tensor], Tensor]) -> Callable[..., _State]:
    return lambda gates, state, w_hh, b_hh, w_hr: (function(gates + torch.nn.functional.linear(state[0], w_hh, b_hh)),)


_CELLS = {"lstm": _lstm, "gru": _gru, "rnn_tanh": _simple(torch.tanh), "rnn_relu": _simple(torch.relu)}


@rule("lstm gru rnn_tanh rnn_relu")
def _recurrent(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # Packed sequences have the lengths in second place, and one argument less at the end.
    if kwargs or len(args) != 9 or not isinstance(args[2], (tuple, list)) or rank_of(level, args[0]) != 3:
        return loop(level, func, args, kwargs)
    states = tuple(args[1]) if isinstance(args[1], (tuple, list)) else (args[1],)
    if not level.any_batched(args[2]) and not (args[5] and args[6]) and level.size:
        return _of_more_sequences(level, func, args, states)
    with level.inside():
        return _step_by_step(_CELLS[func.__name__], args, states)


def _of_more_sequences(level: Level, func: Callable[..., Any], args: tuple[Any, ...], states: _State) -> Any:
    first = 0 if args[8] else 1  # where the sequences lie
    inputs = level.expanded(args[0]).movedim(0, first)
    joined = tuple(level.expanded(state).movedim(0, 1).flatten(1, 2) for state in states)
    given = joined if isinstance(args[1], (tuple, list)) else joined[0]
    output, *ends = func(inputs.flatten(first, first + 1), given, *args[2:])
    output = output.unflatten(first, (level.size, -1)).movedim(first, 0)
    return (level.batched(output), *(level.batched(end.unflatten(1, (level.size, -1)).movedim(1, 0)) for end in ends))


def _step_by_step(cell: Callable[..., _State], args: tuple[Any, ...], states: _State) -> Any:
    steps, _, weights, has_biases, layers, dropout, train, is_bidirectional, batch_first = args
    steps = steps.transpose(0, 1) if batch_first else steps
    directions = 2 if is_bidirectional else 1
    each = len(weights) // (layers * directions)
    ends: list[_State] = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            own = weights[place * each : (place + 1) * each]
            start = tuple(state[place] for state in states)
            output, end = _one_way(cell, steps, start, own, has_biases=has_biases, is_reversed=direction == 1)
            outputs.append(output)
            ends.append(end)
        steps = outputs[0] if directions == 1 else torch.cat(outputs, -1)
        if dropout and layer + 1 < layers:
            steps = torch.dropout(steps, dropout, train)
    result = steps.transpose(0, 1) if batch_first else steps
    return (result, *(torch.stack(column) for column in zip(*ends, strict=True)))


def _one_way(
    cell: Callable[..., _State],
    steps: Tensor,
    state: _State,
    weights: Sequence[Tensor],
    *,
    has_biases: bool,
    is_reversed: bool,
) -> tuple[Tensor, _State]:
    """One layer in one direction: its outputs, and the state that it ends in."""
    w_ih, w_hh, *others = weights
    b_ih, b_hh = others[:2] if has_biases else (None, None)
    w_hr = others[-1] if len(others) % 2 else None
    gates = torch.nn.functional.linear(steps, w_ih, b_ih).unbind(0)
    outputs = []
    for gate in reversed(gates) if is_reversed else gates:
        state = cell(gate, state, w_hh, b_hh, w_hr)
        outputs.append(state[0])
    return torch.stack(outputs[::-1] if is_reversed else outputs), state
