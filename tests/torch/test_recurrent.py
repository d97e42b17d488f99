"""Recurrent networks: the kernel against the same recurrence made of operators, and what a program does with them."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

KINDS = ("RNN", "LSTM", "GRU")
LENGTHS = [7, 4, 4, 1, 1]


def step(kind: str, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: list[torch.Tensor]) -> Any:
    """The next (h, c), written out."""
    given, own = x @ w[0].T + w[2], h @ w[1].T + w[3]
    if kind == "RNN":
        return (given + own).tanh(), c
    if kind == "GRU":
        (r, z, n), (hr, hz, hn) = given.chunk(3, -1), own.chunk(3, -1)
        update = (z + hz).sigmoid()
        return (1 - update) * (n + (r + hr).sigmoid() * hn).tanh() + update * h, c
    i, f, g, o = (given + own).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h @ w[4].T if len(w) > 4 else h), c


def each_alone(net: Any, x: torch.Tensor, lengths: list[int], first: Any) -> torch.Tensor:
    """The outputs of every sequence by itself, zeros behind its end."""
    results = []
    for number, length in enumerate(lengths):
        layer = list(x[:length, number])
        for depth in range(net.num_layers):
            sides = []
            for side in range(2 if net.bidirectional else 1):
                place = depth * (2 if net.bidirectional else 1) + side
                h, c = (part[place, number] for part in first)
                outputs = []
                for value in reversed(layer) if side else layer:
                    h, c = step(net.mode.split("_")[0], value, h, c, net.all_weights[place])
                    outputs.append(h)
                sides.append(outputs[::-1] if side else outputs)
            layer = [torch.cat(parts) for parts in zip(*sides, strict=True)]
        results.append(torch.cat((torch.stack(layer), x.new_zeros(x.size(0) - length, layer[0].size(0)))))
    return torch.stack(results, 1)


# Sizes on both sides of what a vector, a panel and half a panel of weights hold; one step, one sequence, and many.
@pytest.mark.parametrize(
    ("features", "hidden", "steps", "batch"),
    [(3, 5, 7, 5), (8, 16, 7, 5), (5, 33, 4, 13), (4, 40, 1, 3), (6, 24, 9, 1), (3, 7, 3, 70)],
)
@pytest.mark.parametrize("kind", [*KINDS, "projected LSTM"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_network_is_its_formula(kind: str, packed: bool, features: int, hidden: int, steps: int, batch: int) -> None:
    torch.manual_seed(features + hidden)
    projection = 2 if kind.startswith("projected") else 0
    options = {"proj_size": projection} if projection else {}
    net = getattr(nn, kind.split()[-1])(features, hidden, 2, bidirectional=True, dtype=torch.float64, **options)
    lengths = sorted((1 + (3 * number) % steps for number in range(batch)), reverse=True) if packed else [steps] * batch
    lengths[0] = steps
    x = torch.randn(steps, batch, features, dtype=torch.float64, requires_grad=True)
    first = [
        torch.randn(4, batch, size, dtype=torch.float64, requires_grad=True) for size in (projection or hidden, hidden)
    ]
    expected = each_alone(net, x, lengths, first)
    state = tuple(first) if kind.endswith("LSTM") else first[0]
    if packed:
        output, _ = nn.utils.rnn.pad_packed_sequence(net(pack_padded_sequence(x, lengths), state)[0])
    else:
        output, _ = net(x, state)
    torch.testing.assert_close(output, expected, rtol=1e-11, atol=1e-12)
    weight = torch.randn_like(expected)
    inputs = [x, first[0], *([first[1]] if kind.endswith("LSTM") else []), *net.parameters()]
    for ours, theirs in zip(
        torch.autograd.grad((output * weight).sum(), inputs),
        torch.autograd.grad((expected * weight).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_last_states_of_a_packed_sequence_are_those_of_each_end(kind: str) -> None:
    torch.manual_seed(0)
    net = getattr(nn, kind)(3, 6, bidirectional=True)
    x = torch.randn(7, 5, 3)
    _, last = net(pack_padded_sequence(x, LENGTHS))
    for number, length in enumerate(LENGTHS):
        _, alone = net(x[:length, number : number + 1])
        for packed, single in zip(last, alone, strict=True) if kind == "LSTM" else [(last, alone)]:
            torch.testing.assert_close(packed[:, number : number + 1], single)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("hidden", "steps"), [(8, 5), (7, 5), (40, 3), (8, 1)])
def test_halves_are_rounded_once(kind: str, dtype: torch.dtype, hidden: int, steps: int) -> None:
    torch.manual_seed(1)
    net = getattr(nn, kind)(4, hidden, 2).to(dtype)
    x = torch.randn(steps, 3, 4).to(dtype)
    output = net(x)[0]
    assert output.dtype is dtype
    exact = getattr(nn, kind)(4, hidden, 2, dtype=torch.float64)
    exact.load_state_dict(net.state_dict())
    torch.testing.assert_close(output.double(), exact(x.double())[0], rtol=0.02, atol=0.01)
    output.float().sum().backward()
    exact(x.double())[0].sum().backward()
    for ours, theirs in zip(net.parameters(), exact.parameters(), strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        assert ours.grad.dtype is dtype
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_have_gradients(kind: str) -> None:
    torch.manual_seed(2)
    net = getattr(nn, kind)(3, 4, bidirectional=True, dtype=torch.float64)
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)

    def outputs(x: torch.Tensor) -> torch.Tensor:
        first = x.mean((0, 2)).expand(2, 4, 2).transpose(1, 2)  # a state that comes from the input
        result: torch.Tensor = net(x, (first, first * 2) if kind == "LSTM" else first)[0]
        return result

    assert torch.autograd.gradgradcheck(outputs, (x,))
    assert torch.autograd.gradcheck(outputs, (x,), check_forward_ad=True)


def test_frozen_weights_and_unused_results() -> None:
    net = nn.LSTM(3, 4)
    net.weight_ih_l0.requires_grad_(False)
    x = torch.randn(5, 2, 3)
    _, (h, c) = net(x)
    c.sum().backward()
    assert net.weight_ih_l0.grad is None
    assert net.weight_hh_l0.grad is not None
    assert h.grad_fn is not None


def test_meta_tensors_have_shapes() -> None:
    net = nn.LSTM(3, 8, 2, bidirectional=True, proj_size=4, device="meta")
    output, (h, c) = net(torch.empty(5, 2, 3, device="meta"))
    assert output.shape == (5, 2, 8)
    assert h.shape == (4, 2, 4)
    assert c.shape == (4, 2, 8)
    assert output.is_meta


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_numbers(threads: int) -> None:
    torch.manual_seed(3)
    before = torch.get_num_threads()
    net = nn.GRU(32, 256)
    x = torch.randn(6, 24, 32)
    expected = net(x)[0]
    try:
        torch.set_num_threads(threads)
        torch.testing.assert_close(net(x)[0], expected, rtol=1e-5, atol=1e-6)
    finally:
        torch.set_num_threads(before)


def wrong(expected: str, call: Any) -> Any:
    return pytest.param(expected, call, id=expected[:40])


W = [torch.ones(20, 3), torch.ones(20, 5), torch.ones(20), torch.ones(20)]
STATE = torch.zeros(1, 2, 5)
DATA = torch.ones(5, 3)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        wrong(
            "lstm expects two hidden states",
            lambda: torch.lstm(DATA[None], [STATE], W, True, 1, 0, False, False, False),
        ),
        wrong(
            "Expected sequence length to be larger than 0 in RNN",
            lambda: torch.lstm(torch.ones(0, 2, 3), [STATE, STATE], W, True, 1, 0, False, False, False),
        ),
        wrong(
            "got an incorrect number of RNN parameters",
            lambda: torch.gru(torch.ones(1, 2, 3), STATE, W[:3], True, 1, 0, False, False, False),
        ),
        wrong(
            "Expected more hidden states in stacked_rnn",
            lambda: torch.rnn_tanh(torch.ones(1, 2, 3), STATE, W * 2, True, 2, 0, False, False, False),
        ),
        wrong(
            "expected scalar type Long but found Int",
            lambda: torch.lstm(DATA, torch.tensor([3, 2]).int(), [STATE, STATE], W, True, 1, 0, False, False),
        ),
        wrong(
            "must not be negative or grow",
            lambda: torch.lstm(DATA, torch.tensor([2, 3]), [STATE, STATE], W, True, 1, 0, False, False),
        ),
        wrong(
            "to add up to 5 rows",
            lambda: torch.lstm(DATA, torch.tensor([2, 2]), [STATE, STATE], W, True, 1, 0, False, False),
        ),
        wrong(
            "weight_ih first dim must be 3 * hidden_size = 15, but got 20",
            lambda: torch.gru_cell(torch.ones(2, 3), STATE[0], *W),
        ),
        wrong(
            "input has inconsistent input_size: got 2 expected 3",
            lambda: torch.lstm_cell(torch.ones(2, 2), [STATE[0]] * 2, *W),
        ),
        wrong(
            "Input batch size 3 doesn't match hidden0 batch size 2",
            lambda: torch.lstm_cell(torch.ones(3, 3), [STATE[0]] * 2, *W),
        ),
    ],
)
def test_what_does_not_fit(text: str, call: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        call()
    assert text in str(caught.value)


def test_mixed_types_are_refused_as_products_are() -> None:
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.lstm(torch.ones(4, 2, 3).double(), [STATE, STATE], W, True, 1, 0, False, False, False)


def test_packed_sequences_come_back_packed() -> None:
    output, _ = nn.GRU(3, 4)(pack_padded_sequence(torch.randn(7, 5, 3), LENGTHS))
    assert isinstance(output, PackedSequence)
    assert output.data.shape == (sum(LENGTHS), 4)
