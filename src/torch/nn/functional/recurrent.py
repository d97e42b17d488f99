"""Recurrences over sequences, padded or packed: what `torch.nn.RNN`, `LSTM`, `GRU` and their cells compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    # (what the input adds to the gates, the state, weights of the state) -> the next state; its part 0 is the output.
    State = tuple[Tensor, ...]
    Cell = Callable[[Tensor, State, "Weights"], State]

_linear = _C._nn.linear


class Weights:
    """The weights of one direction of one layer: (gates, input), (gates, state), two biases and a projection."""

    __slots__ = ("bias_hh", "bias_ih", "weight_hh", "weight_hr", "weight_ih")

    def __init__(
        self,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor | None = None,
        bias_hh: Tensor | None = None,
        weight_hr: Tensor | None = None,
    ) -> None:
        self.weight_ih, self.weight_hh, self.weight_hr = weight_ih, weight_hh, weight_hr
        self.bias_ih, self.bias_hh = bias_ih, bias_hh


def lstm_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """One step of an LSTM: the state is (h, c)."""
    hidden, memory = state
    gates = _linear(hidden, weights.weight_hh, weights.bias_hh) + gates
    entry, forget, candidate, exit = gates.chunk(4, -1)
    memory = forget.sigmoid() * memory + entry.sigmoid() * candidate.tanh()
    hidden = exit.sigmoid() * memory.tanh()
    if weights.weight_hr is not None:
        hidden = _linear(hidden, weights.weight_hr)
    return hidden, memory


def gru_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """One step of a GRU: the state is (h,)."""
    (hidden,) = state
    reset_input, update_input, new_input = gates.chunk(3, -1)
    reset_state, update_state, new_state = _linear(hidden, weights.weight_hh, weights.bias_hh).chunk(3, -1)
    reset = (reset_state + reset_input).sigmoid()
    update = (update_state + update_input).sigmoid()
    new = (new_input + new_state * reset).tanh()
    return ((hidden - new) * update + new,)


def tanh_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """One step of an Elman network: the state is (h,)."""
    return ((_linear(state[0], weights.weight_hh, weights.bias_hh) + gates).tanh(),)


def relu_cell(gates: Tensor, state: State, weights: Weights) -> State:
    """One step of an Elman network with ReLU: the state is (h,)."""
    return ((_linear(state[0], weights.weight_hh, weights.bias_hh) + gates).relu(),)


CELLS: dict[str, Cell] = {"LSTM": lstm_cell, "GRU": gru_cell, "RNN_TANH": tanh_cell, "RNN_RELU": relu_cell}


def _run_padded(cell: Cell, input: Tensor, state: State, weights: Weights, backwards: bool) -> tuple[Tensor, State]:
    """One direction of one layer over (time, batch, features)."""
    steps = _linear(input, weights.weight_ih, weights.bias_ih).unbind(0)
    outputs = []
    for gates in reversed(steps) if backwards else steps:
        state = cell(gates, state, weights)
        outputs.append(state[0])
    return torch.stack(outputs[::-1] if backwards else outputs), state


def _run_packed(
    cell: Cell, data: Tensor, batch_sizes: Sequence[int], state: State, weights: Weights, backwards: bool
) -> tuple[Tensor, State]:
    """One direction of one layer over the steps of a packed sequence, whose batches shrink with time.

    Forwards, a sequence that has ended leaves its last state behind; backwards, it joins with its first one.
    """
    steps = _linear(data, weights.weight_ih, weights.bias_ih).split(list(batch_sizes))
    outputs = []
    if backwards:
        first, size = state, batch_sizes[-1]
        state = tuple(part[:size] for part in first)
        for gates in reversed(steps):
            joining = gates.size(0)
            if joining > size:
                state = tuple(torch.cat((part, start[size:joining])) for part, start in zip(state, first, strict=True))
                size = joining
            state = cell(gates, state, weights)
            outputs.append(state[0])
        return torch.cat(outputs[::-1]), state
    ended: list[State] = []
    size = batch_sizes[0]
    for gates in steps:
        staying = gates.size(0)
        if staying < size:
            ended.append(tuple(part[staying:size] for part in state))
            state = tuple(part[:staying] for part in state)
            size = staying
        state = cell(gates, state, weights)
        outputs.append(state[0])
    ended.append(state)
    return torch.cat(outputs), tuple(torch.cat(parts[::-1]) for parts in zip(*ended, strict=True))


def run_recurrence(
    mode: str,
    input: Tensor,
    state: State,
    weights: Sequence[Weights],
    *,
    batch_sizes: Tensor | None = None,
    num_layers: int = 1,
    bidirectional: bool = False,
    dropout: float = 0.0,
    training: bool = False,
) -> tuple[Tensor, State]:
    """All layers of a recurrent network, and their last states.

    input: (time, batch, features), or the data of a packed sequence with its `batch_sizes` (int64, on the CPU).
    state: first states, each (layers * directions, batch, size): (h, c) for "LSTM", (h,) for the other modes.
    weights: one for each direction of each layer. dropout: what is dropped from outputs between layers in `training`.
    """
    cell = CELLS[mode]
    directions = 2 if bidirectional else 1
    if input.size(0) == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    sizes = None if batch_sizes is None else batch_sizes.tolist()
    firsts = list(zip(*(part.unbind(0) for part in state), strict=True))
    lasts: list[State] = []
    for layer in range(num_layers):
        outputs: list[Any] = []
        for direction in range(directions):
            number = layer * directions + direction
            if sizes is None:
                output, last = _run_padded(cell, input, firsts[number], weights[number], direction == 1)
            else:
                output, last = _run_packed(cell, input, sizes, firsts[number], weights[number], direction == 1)
            outputs.append(output)
            lasts.append(last)
        input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
        if dropout and training and layer < num_layers - 1:
            input = torch.dropout(input, dropout, True)
    return input, tuple(torch.stack(parts) for parts in zip(*lasts, strict=True))
