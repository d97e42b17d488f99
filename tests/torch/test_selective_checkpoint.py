"""Checkpoints that keep the results of some operators: the same gradients, and fewer calls in backward."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import torch
from torch import nn
from torch.utils.checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    GraphExecGroup,
    checkpoint,
    create_selective_checkpoint_contexts,
)

MODEL = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def several(x: torch.Tensor) -> torch.Tensor:
    a = x @ x.T
    b = torch.cat([a, a.sin()], 1).softmax(-1)
    values, _ = b.max(1)
    attended = nn.functional.scaled_dot_product_attention(b[None], b[None], b[None])
    return attended.sum() + values.exp().sum() + torch.var(b) * b[:, :2].sum()


def gradient(function: Any, contexts: Any = None) -> torch.Tensor:
    x = torch.linspace(-1, 1, 30).reshape(5, 6).requires_grad_()
    y = function(x) if contexts is None else checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    return torch.autograd.grad(y.pow(2).sum(), x)[0]


@pytest.mark.parametrize("policy", CheckpointPolicy)
@pytest.mark.parametrize("function", [MODEL, several])
def test_gradients_are_the_same_whatever_is_kept(function: Any, policy: CheckpointPolicy) -> None:
    contexts = partial(create_selective_checkpoint_contexts, lambda context, operator, *args, **kwargs: policy)
    assert torch.equal(gradient(function, contexts), gradient(function))


@pytest.mark.parametrize("name", ["mm", "softmax", "cat", "max", "var", "sin"])
def test_gradients_are_the_same_if_one_operator_is_kept(name: str) -> None:
    contexts = partial(create_selective_checkpoint_contexts, [getattr(torch.ops.aten, name).default])
    assert torch.equal(gradient(several, contexts), gradient(several))


def test_what_is_kept_is_not_computed_again() -> None:
    asked: list[str] = []

    def policy(context: Any, operator: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        assert context.op_output.shape[0] == 5
        assert not context.is_recompute
        asked.append(str(operator))
        return (
            CheckpointPolicy.MUST_SAVE
            if operator == torch.ops.aten.addmm.default
            else CheckpointPolicy.PREFER_RECOMPUTE
        )

    x = torch.ones(5, 6, requires_grad=True)
    contexts = partial(create_selective_checkpoint_contexts, policy)
    checkpoint(MODEL, x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert asked == [
        "aten.addmm.default",
        "aten.relu.default",
        "aten.addmm.default",
        "aten.gelu.default",
        "aten.layer_norm.default",
        "aten.addmm.default",
    ]


def test_operators_of_programs_are_kept() -> None:
    calls: list[int] = []

    @torch.library.custom_op("selective::counted", mutates_args=())
    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x * 2

    counted.register_autograd(lambda ctx, grad: grad * 2)
    operator = torch.ops.selective.counted.default
    for kept, expected in (([operator], 1), ([torch.ops.aten.sin.default], 2)):
        calls.clear()
        contexts = partial(create_selective_checkpoint_contexts, kept)
        found = gradient(lambda x: operator(x.sin()).exp(), contexts)
        assert len(calls) == expected
        assert torch.equal(found, gradient(lambda x: (x.sin() * 2).exp()))


def test_what_is_kept_must_not_be_written_to() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        z = y.exp()
        with torch.no_grad():
            y.mul_(2)
        return z

    kept = [torch.ops.aten.sin.default]
    with pytest.raises(RuntimeError, match="cached during selective activation checkpoint has been mutated"):
        gradient(function, partial(create_selective_checkpoint_contexts, kept))
    gradient(function, partial(create_selective_checkpoint_contexts, kept, allow_cache_entry_mutation=True))


def test_bad_policies() -> None:
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload but got: 1"):
        create_selective_checkpoint_contexts([1])
    with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)  # type: ignore[arg-type]
    assert torch.ops.aten.detach.default in SAC_IGNORED_OPS


def test_backwards_of_a_group_share_one_recomputation() -> None:
    runs = 0

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal runs
        runs += 1
        return x.sin().exp(), x.cos().exp()

    def run(group: bool) -> int:
        nonlocal runs
        runs = 0
        x = torch.ones(3, requires_grad=True)
        one, two = checkpoint(function, x, use_reentrant=False, early_stop=False)
        if group:
            with GraphExecGroup():
                one.sum().backward(retain_graph=True)
                two.sum().backward()
        else:
            one.sum().backward(retain_graph=True)
            two.sum().backward()
        return runs

    assert (run(group=False), run(group=True)) == (3, 2)
    with GraphExecGroup(), pytest.raises(RuntimeError, match="cannot be nested"), GraphExecGroup():
        pass
