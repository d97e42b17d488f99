"""Recurrent networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, operator

# name -> (function of x, alpha and beta; their defaults, None for one that it does not take)
_ACTIVATIONS: dict[str, tuple[Any, float | None, float | None]] = {
    "Sigmoid": (lambda x, a, b: torch.sigmoid(x), None, None),
    "Tanh": (lambda x, a, b: torch.tanh(x), None, None),
    "Relu": (lambda x, a, b: torch.relu(x), None, None),
    "Softplus": (lambda x, a, b: F.softplus(x), None, None),
    "Softsign": (lambda x, a, b: F.softsign(x), None, None),
    "Affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "LeakyRelu": (lambda x, a, b: F.leaky_relu(x, a), 0.01, None),
    "ThresholdedRelu": (lambda x, a, b: torch.where(x > a, x, torch.zeros_like(x)), 1.0, None),
    "ScaledTanh": (lambda x, a, b: a * torch.tanh(b * x), 1.0, 1.0),
    "HardSigmoid": (lambda x, a, b: torch.clamp(a * x + b, 0, 1), 0.2, 0.5),
    "Elu": (lambda x, a, b: F.elu(x, a), 1.0, None),
}


def _directions(direction: str) -> list[bool]:
    known = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    if direction not in known:
        raise Refusal(f"direction {direction!r}")
    return known[direction]


def _functions(names: Any, default: list[str], ways: int, alphas: Any, betas: Any) -> list[list[Any]]:
    """The activations of each way; numbers are used up by those that take one."""
    chosen = list(names or default * ways)
    known = {name.lower(): row for name, row in _ACTIVATIONS.items()}
    if len(chosen) != len(default) * ways or any(name.lower() not in known for name in chosen):
        raise Refusal(f"activations {chosen}")
    numbers = iter(alphas or ()), iter(betas or ())
    made = []
    for name in chosen:
        function, *defaults = known[name.lower()]
        alpha, beta = (
            None if usual is None else next(given, usual) for given, usual in zip(numbers, defaults, strict=True)
        )
        made.append(lambda x, function=function, alpha=alpha, beta=beta: function(x, alpha, beta))
    return [made[way * len(default) :][: len(default)] for way in range(ways)]


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


def _add(name: str, defaults: list[str], cell: Any) -> None:
    """An operator whose step is `cell(functions, w, r, b, limit, x_t, states, **options)`, of one direction."""

    @operator(name, options=cell)
    def network(
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        lengths: Tensor | None = None,
        start: Tensor | None = None,
        *more: Tensor | None,
        activations: Any = None,
        activation_alpha: Any = None,
        activation_beta: Any = None,
        clip: float | None = None,
        direction: str = "forward",
        hidden_size: int = 0,
        layout: int = 0,
        output_sequence: int = 0,
        **options: Any,
    ) -> tuple[Tensor, ...]:
        ways, size = _directions(direction), r.shape[-1]
        functions = _functions(activations, defaults, len(ways), activation_alpha, activation_beta)
        limit = None if clip is None else abs(clip)
        starts = [start]
        if len(more) > (2 if name == "LSTM" else 0):
            raise Refusal(f"{6 + len(more)} inputs")
        if name == "LSTM":
            memory, peepholes = (*more, None, None)[:2]
            starts.append(memory)
            options["peepholes"] = peepholes

        def step(way: int, x_t: Tensor, states: list[Tensor]) -> list[Tensor]:
            biases = torch.zeros(2 * w.shape[1], dtype=x.dtype) if b is None else b[way]
            mine = {key: value[way] if isinstance(value, Tensor) else value for key, value in options.items()}
            return cell(functions[way], w[way], r[way], biases, limit, x_t, states, **mine)  # type: ignore[no-any-return]

        started = [_start(each, x, len(ways), size, layout) for each in starts]
        return _recurrence(x, ways, lengths, started, layout, size, step)


def _elman(functions: list[Any], w: Tensor, r: Tensor, b: Tensor, limit: Any, x: Tensor, states: Any) -> list[Tensor]:
    of_x, of_state = b.chunk(2)
    return [functions[0](_limit(F.linear(x, w, of_x) + F.linear(states[0], r, of_state), limit))]


def _gru(
    functions: list[Any], w: Tensor, r: Tensor, b: Tensor, limit: Any, x: Tensor, states: Any, *,
    linear_before_reset: int = 0,
) -> list[Tensor]:  # fmt: skip
    (hidden,) = states
    gate, squash = functions
    of_x, of_state = b.chunk(2)
    parts = F.linear(x, w, of_x).chunk(3, -1)
    weights, shifts = r.chunk(3), of_state.chunk(3)
    update, reset = (gate(_limit(parts[at] + F.linear(hidden, weights[at], shifts[at]), limit)) for at in (0, 1))
    if linear_before_reset:
        candidate = reset * F.linear(hidden, weights[2], shifts[2])
    else:
        candidate = F.linear(reset * hidden, weights[2], shifts[2])
    return [(1 - update) * squash(_limit(parts[2] + candidate, limit)) + update * hidden]


def _lstm(
    functions: list[Any], w: Tensor, r: Tensor, b: Tensor, limit: Any, x: Tensor, states: Any,
    peepholes: Tensor | None = None, *, input_forget: int = 0,
) -> list[Tensor]:  # fmt: skip
    hidden, cell = states
    gate, squash, last = functions
    of_x, of_state = b.chunk(2)
    entry, exit, forget, candidate = (F.linear(x, w, of_x) + F.linear(hidden, r, of_state)).chunk(4, -1)
    seen = torch.zeros(3, 1, dtype=x.dtype) if peepholes is None else peepholes.reshape(3, -1)
    entry = gate(_limit(entry + seen[0] * cell, limit))
    forget = 1 - entry if input_forget else gate(_limit(forget + seen[2] * cell, limit))
    cell = forget * cell + entry * squash(_limit(candidate, limit))
    return [gate(_limit(exit + seen[1] * cell, limit)) * last(cell), cell]


_add("RNN", ["Tanh"], _elman)
_add("GRU", ["Sigmoid", "Tanh"], _gru)
_add("LSTM", ["Sigmoid", "Tanh", "Tanh"], _lstm)
