"""ctc_loss against its definition: the sum over every path through the classes that reads as the target."""

from __future__ import annotations

import itertools
import math

import pytest

import torch
from torch.nn import functional


def read(path: tuple[int, ...], blank: int) -> list[int]:
    """What a path says: neighbours that are equal are one, blanks are nothing."""
    return [label for label, _ in itertools.groupby(path) if label != blank]


def by_definition(log_probs: torch.Tensor, target: list[int], blank: int) -> torch.Tensor:
    """Of log_probs (time, classes), differentiable."""
    steps, classes = log_probs.shape
    paths = [path for path in itertools.product(range(classes), repeat=steps) if read(path, blank) == target]
    if not paths:
        return log_probs.sum() * 0 + math.inf
    times = torch.arange(steps)
    return -torch.stack([log_probs[times, torch.tensor(path)].sum() for path in paths]).logsumexp(0)


TARGETS = ([1, 2], [2, 2], [1], [], [1, 1, 1])
STEPS = (4, 4, 3, 2, 4)  # the last target needs five


def problem(dtype: torch.dtype, blank: int) -> tuple[torch.Tensor, list[list[int]]]:
    torch.manual_seed(3)
    scores = torch.randn(4, len(TARGETS), 3, dtype=torch.float64).to(dtype)
    # Labels 1 and 2 are those that are not blank.
    names = [label for label in range(3) if label != blank]
    return scores, [[names[label - 1] for label in target] for target in TARGETS]


def joined(targets: list[list[int]]) -> torch.Tensor:
    return torch.tensor([label for target in targets for label in target])


def padded(targets: list[list[int]], dtype: torch.dtype) -> torch.Tensor:
    rows = [[*target, *[9] * (5 - len(target))] for target in targets]  # what is past an end is not looked at
    return torch.tensor(rows, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("blank", [0, 1, 2])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_all_paths(dtype: torch.dtype, blank: int, zero_infinity: bool) -> None:
    scores, targets = problem(dtype, blank)
    lengths = [len(target) for target in targets]
    given = scores.clone().requires_grad_()
    losses = functional.ctc_loss(
        given.log_softmax(2), joined(targets), STEPS, lengths, blank, "none", zero_infinity=zero_infinity
    )
    expected = scores.double().clone().requires_grad_()
    log_probs = expected.log_softmax(2)
    wanted = [
        by_definition(log_probs[:steps, i], target, blank)
        for i, (steps, target) in enumerate(zip(STEPS, targets, strict=True))
    ]
    if zero_infinity:
        wanted[-1] = log_probs.new_zeros(())
    torch.testing.assert_close(losses, torch.stack(wanted).to(dtype))
    losses[:-1].sum().backward()
    torch.stack(wanted[:-1]).sum().backward()
    assert given.grad is not None
    assert expected.grad is not None
    torch.testing.assert_close(given.grad[:, :-1], expected.grad[:, :-1].to(dtype))


def test_targets_in_either_form_and_any_layout() -> None:
    scores, targets = problem(torch.float64, 0)
    lengths = torch.tensor([len(target) for target in targets])
    log_probs = scores.log_softmax(2)
    steps = torch.tensor(STEPS, dtype=torch.int32)
    expected = functional.ctc_loss(log_probs, joined(targets), steps, lengths, reduction="none")
    batch_first = log_probs.transpose(0, 1).contiguous().transpose(0, 1)
    classes_first = log_probs.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    for layout in (batch_first, classes_first):
        for form in (padded(targets, torch.int64), padded(targets, torch.int32), joined(targets).to(torch.int16)):
            assert torch.equal(functional.ctc_loss(layout, form, steps, lengths, reduction="none"), expected)


def test_reductions() -> None:
    scores, targets = problem(torch.float64, 0)
    lengths = [len(target) for target in targets]
    log_probs = scores.log_softmax(2)
    arguments = (log_probs, joined(targets), STEPS, lengths)
    losses = functional.ctc_loss(*arguments, reduction="none", zero_infinity=True)
    divided = losses / torch.tensor(lengths).clamp_min(1)
    assert torch.equal(functional.ctc_loss(*arguments, reduction="sum", zero_infinity=True), losses.sum())
    assert torch.equal(functional.ctc_loss(*arguments, zero_infinity=True), divided.mean())
    alone = functional.ctc_loss(log_probs[:, 0], torch.tensor(targets[0]), [4], [2], reduction="none")
    assert alone.shape == ()
    assert torch.equal(alone, losses[0])


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_an_impossible_target_and_steps_past_the_end(zero_infinity: bool) -> None:
    scores, targets = problem(torch.float32, 0)
    lengths = [len(target) for target in targets]
    log_probs = scores.log_softmax(2).requires_grad_()
    functional.ctc_loss(
        log_probs, joined(targets), STEPS, lengths, reduction="sum", zero_infinity=zero_infinity
    ).backward()
    assert log_probs.grad is not None
    assert (log_probs.grad[:, -1] == 0).all() if zero_infinity else log_probs.grad[:, -1].isnan().all()
    for sequence, steps in enumerate(STEPS):
        assert (log_probs.grad[steps:, sequence] == 0).all()


def test_many_states() -> None:
    """More than a vector of them: gradients by differences, and float32 beside float64."""
    torch.manual_seed(5)
    scores = torch.randn(30, 2, 6, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(1, 6, (2, 11))

    def loss(values: torch.Tensor) -> torch.Tensor:
        return functional.ctc_loss(values.log_softmax(2), targets, [30, 27], [11, 9], reduction="none")

    assert torch.autograd.gradcheck(loss, (scores,))
    torch.testing.assert_close(loss(scores.detach().float()), loss(scores.detach()).float())


def test_impossible_classes_leave_gradients_finite() -> None:
    log_probs = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]).log().unsqueeze(1).requires_grad_()
    loss = functional.ctc_loss(log_probs, torch.tensor([[1]]), [2], [1], reduction="sum")
    assert loss.item() == pytest.approx(-math.log(0.75))
    loss.backward()
    assert log_probs.grad is not None
    assert log_probs.grad.isfinite().all()


@pytest.mark.parametrize(
    ("targets", "steps", "lengths", "message"),
    [
        ([1, 2], [5], [2], "input_lengths to have value at most 4, but got value 5"),
        ([1, 2], [-1], [2], "input_lengths to have value at least 0"),
        ([1, 2], [4, 4], [2], "input_lengths must be of size batch_size"),
        ([1, 2], [4], [2, 1], "target_lengths must be of size batch_size"),
        ([1, 2], [4], [3], "size 3 at dimension 0, but got size 2"),
        ([[1, 2]], [4], [3], "size at least 3 at dimension 1, but got size 2"),
        ([1, 3], [4], [2], "target 3 is out of bounds"),
    ],
)
def test_what_does_not_fit(targets: list[int], steps: list[int], lengths: list[int], message: str) -> None:
    with pytest.raises((RuntimeError, IndexError), match=message):
        functional.ctc_loss(torch.zeros(4, 1, 3), torch.tensor(targets), steps, lengths)
