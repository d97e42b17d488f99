"""`torch.lstm`, `torch.ctc_loss` and their like: what torch.nn.functional and modules compute, by PyTorch's schemas.

Options are numbers there rather than words (a reduction is 0: none, 1: mean, 2: sum), and none has a default that
depends on others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch._overridable import overridable
from torch.nn.functional import ctc, recurrent, sparse as bag, vision
from torch.nn.functional.recurrent import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

_REDUCTIONS = ("none", "mean", "sum")
_BAGS = ("sum", "mean", "max")
_linear = _C._nn.linear


def _choose(words: tuple[str, ...], number: int, name: str) -> str:
    if not 0 <= number < len(words):
        raise RuntimeError(f"{name}: expected a number below {len(words)}, but got {number}")
    return words[number]


# ---------------------------------------------------------------- recurrences


def _group(params: Sequence[Tensor], has_biases: bool, directions: int) -> list[Weights]:
    """The weights of each direction of each layer, which stand in a row."""
    count, rest = divmod(len(params), directions)
    least = 4 if has_biases else 2
    if rest or count not in (least, least + 1):
        raise RuntimeError(
            f"expected {least} weights for each of {directions} directions of layers, but got {len(params)} in all"
        )
    result = []
    for start in range(0, len(params), count):
        one = list(params[start : start + count])
        biases = one[2:4] if has_biases else [None, None]
        result.append(Weights(one[0], one[1], *biases, *one[4 if has_biases else 2 :]))
    return result


def _run(mode: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    def padded(
        input: Tensor,
        hx: Any,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        output, state = compute(
            input.transpose(0, 1) if batch_first else input,
            hx,
            params,
            has_biases,
            num_layers,
            dropout,
            train,
            bidirectional,
        )
        return output.transpose(0, 1) if batch_first else output, *state

    def packed(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Any,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> Any:
        output, state = compute(
            data, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_sizes=batch_sizes
        )
        return output, *state

    def compute(
        input: Tensor,
        hx: Any,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_sizes: Tensor | None = None,
    ) -> Any:
        return recurrent.run_recurrence(
            mode,
            input,
            tuple(hx) if mode == "LSTM" else (hx,),
            _group(params, has_biases, num_layers * (2 if bidirectional else 1)),
            batch_sizes=batch_sizes,
            num_layers=num_layers,
            bidirectional=bidirectional,
            dropout=dropout,
            training=train,
        )

    # With batch_sizes a tensor stands where the states, or the weights, would be a list.
    place = 1 if mode == "LSTM" else 2
    is_packed = "batch_sizes" in options or (len(arguments) > place and isinstance(arguments[place], torch.Tensor))
    return (packed if is_packed else padded)(*arguments, **options)


def _step(cell: Callable[..., Any], gates: int, input: Tensor, state: Sequence[Tensor], weights: Weights) -> Any:
    """A step of a cell, whose weights have as many rows as `gates` states have elements."""
    if len(state) != (2 if gates == 4 else 1):
        raise RuntimeError("lstm_cell expects two hidden states")
    rows = gates * state[0].size(-1)
    for name, weight in (("weight_ih", weights.weight_ih), ("weight_hh", weights.weight_hh)):
        if weight.size(0) != rows:
            raise RuntimeError(f"{name} first dim must be {gates} * hidden_size = {rows}, but got {weight.size(0)}")
    return cell(_linear(input, weights.weight_ih, weights.bias_ih), tuple(state), weights)


@overridable
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The outputs of an LSTM and its last states, h and c.

    lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or of a packed sequence
    lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional). hx: [h, c]; params: the
    weights of `torch.nn.LSTM` in its order.
    """
    return _run("LSTM", args, kwargs)  # type: ignore[no-any-return]


@overridable
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The outputs of a GRU and its last state; arguments are those of `torch.lstm`, with one tensor as `hx`."""
    return _run("GRU", args, kwargs)  # type: ignore[no-any-return]


@overridable
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The outputs of an Elman network and its last state; arguments are those of `torch.gru`."""
    return _run("RNN_TANH", args, kwargs)  # type: ignore[no-any-return]


@overridable
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The outputs of an Elman network with ReLU and its last state; arguments are those of `torch.gru`."""
    return _run("RNN_RELU", args, kwargs)  # type: ignore[no-any-return]


@overridable
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: input (batch, features), hx [h, c], each (batch, size) -> the next h and c."""
    return _step(recurrent.lstm_cell, 4, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))  # type: ignore[no-any-return]


@overridable
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a GRU: input (batch, features), hx (batch, size) -> the next state."""
    return _step(recurrent.gru_cell, 3, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]  # type: ignore[no-any-return]


@overridable
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of an Elman network: input (batch, features), hx (batch, size) -> the next state."""
    return _step(recurrent.tanh_cell, 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]  # type: ignore[no-any-return]


@overridable
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of an Elman network with ReLU: input (batch, features), hx (batch, size) -> the next state."""
    return _step(recurrent.relu_cell, 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]  # type: ignore[no-any-return]


# ---------------------------------------------------------------- places, sequences, bags


@overridable
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`torch.nn.functional.affine_grid`."""
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    return vision.affine_grid(theta, size, align_corners)


@overridable
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """`torch.nn.functional.ctc_loss`, with the reduction as a number."""
    word = _choose(_REDUCTIONS, reduction, "reduction")
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)


@overridable
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`torch.nn.functional.embedding_bag` (mode 0 sum, 1 mean, 2 max) with what its gradient needs.

    Returns the bags, the bag of each index, how many indices each bag has, and for "max" the row of each maximum. For
    "sum" these are empty and zeros, as in PyTorch.
    """
    if not 0 <= mode < len(_BAGS):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    word = _BAGS[mode]
    bags = bag.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=word,
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    count = bags.size(0)
    if word == "sum":
        sizes = indices.new_zeros(count)
        return bags, indices.new_empty(0), sizes, sizes.clone()
    numbers = torch.arange(indices.numel(), device=indices.device)
    owners = torch.searchsorted(offsets[:count].contiguous(), numbers, right=True) - 1
    counted = torch.ones_like(indices, dtype=torch.bool) if padding_idx is None else indices != padding_idx
    sizes = torch.bincount(owners[counted], minlength=count).to(indices.dtype)
    if word == "mean":
        return bags, owners.to(indices.dtype), sizes, sizes.clone()
    # The first index of a bag whose row has the maximum, column by column.
    found = weight.detach()[indices]
    matches = (found == bags.detach()[owners]) & counted.unsqueeze(1)
    firsts = torch.where(matches, numbers.unsqueeze(1), indices.numel())
    firsts = torch.full(bags.shape, indices.numel(), device=indices.device).index_reduce(0, owners, firsts, "amin")
    rows = torch.cat((indices, indices.new_zeros(1)))[firsts]
    return bags, owners.to(indices.dtype), sizes, rows
