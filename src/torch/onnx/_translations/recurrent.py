"""Recurrent networks: one LSTM, GRU or RNN of ONNX for each layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Var
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph

# The order of ONNX's gates among torch's.
_GATES = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2], "RNN": [0]}


def _reordered(g: Graph, weight: Var, kind: str) -> Var:
    """The rows of (gates * size, ...) by gates in ONNX's order."""
    order = _GATES[kind]
    if len(order) == 1:
        return weight
    parts = g.split(weight, [weight.size(0) // len(order)] * len(order), 0)
    return g.op("Concat", *(parts[place] for place in order), axis=0)  # type: ignore[no-any-return]


def _run(
    g: Graph,
    kind: str,
    x: Var,
    states: list[Var],
    weights: list[Var],
    biases: bool,
    layers: int,
    both_ways: bool,
    **attributes: Any,
) -> list[Var]:
    """(time, batch, features) -> the last layer's outputs and all last states."""
    ways, per_way = 2 if both_ways else 1, 4 if biases else 2
    if len(weights) != layers * ways * per_way:
        raise NotImplementedError("projections (proj_size)")
    ends: list[list[Var]] = [[] for _ in states]
    for layer in range(layers):
        groups = [weights[(layer * ways + way) * per_way :][:per_way] for way in range(ways)]
        stacked = [
            g.op("Concat", *(g.unsqueeze(_reordered(g, group[part], kind), [0]) for group in groups), axis=0)
            for part in range(2)
        ]
        bias = None
        if biases:
            joined = [
                g.op("Concat", *(_reordered(g, group[part], kind) for part in (2, 3)), axis=0) for group in groups
            ]
            bias = g.op("Concat", *(g.unsqueeze(each, [0]) for each in joined), axis=0)
        starts = [g.slice(state, 0, layer * ways, (layer + 1) * ways) for state in states]
        size = weights[1].size(1)
        direction = "bidirectional" if both_ways else "forward"
        y, *last = g.op(kind, x, *stacked, bias, None, *starts, hidden_size=size, direction=direction,
                        outputs=1 + len(states), **attributes)  # fmt: skip
        for kept, each in zip(ends, last, strict=True):
            kept.append(each)
        # (time, ways, batch, size) -> (time, batch, ways * size)
        x = g.op("Reshape", g.transpose(y, [0, 2, 1, 3]), [0, 0, ways * size])
    return [x, *(g.op("Concat", *each, axis=0) if layers > 1 else each[0] for each in ends)]


def _network(
    g: Graph, kind: str, x: Var, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool = False, **attributes: Any,
) -> list[Var]:  # fmt: skip
    if isinstance(params, Var):
        raise NotImplementedError("packed sequences")
    if train and dropout:
        raise NotImplementedError("dropout between layers in training: call model.eval()")
    if x.dtype != torch.float32 and x.dtype != torch.float16 and x.dtype != torch.float64:
        raise NotImplementedError(f"of {x.dtype}")
    alone = x.rank == 2
    states = list(hx) if isinstance(hx, (list, tuple)) else [hx]
    if alone:
        batch = 0 if batch_first else 1
        x, states = g.unsqueeze(x, [batch]), [g.unsqueeze(each, [1]) for each in states]
    x = g.transpose(x, [1, 0, 2]) if batch_first else x
    y, *last = _run(g, kind, x, states, list(params), has_biases, num_layers, bidirectional, **attributes)
    y = g.transpose(y, [1, 0, 2]) if batch_first else y
    if alone:
        y, last = g.squeeze(y, [0 if batch_first else 1]), [g.squeeze(each, [1]) for each in last]
    return [y, *last]


@row("lstm")
def lstm(g: Graph, *arguments: Any, **named: Any) -> Any:
    if isinstance(arguments[1], Var):
        raise NotImplementedError("packed sequences")
    return _network(g, "LSTM", *arguments, **named)


@row("gru")
def gru(g: Graph, *arguments: Any, **named: Any) -> Any:
    return _network(g, "GRU", *arguments, linear_before_reset=1, **named)


def _elman(name: str, activation: str) -> None:
    @row(name)
    def translate(g: Graph, *arguments: Any, **named: Any) -> Any:
        bidirectional = named.get("bidirectional", arguments[7] if len(arguments) > 7 else False)
        return _network(g, "RNN", *arguments, activations=[activation] * (2 if bidirectional else 1), **named)


_elman("rnn_tanh", "Tanh")
_elman("rnn_relu", "Relu")
