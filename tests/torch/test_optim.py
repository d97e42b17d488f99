"""torch.optim beyond the golden trajectories: groups, closures, hooks, state."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop, lr_scheduler


def _parameters() -> list[torch.Tensor]:
    parameters = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return parameters


def test_groups_have_their_own_options() -> None:
    first, second = _parameters()
    optimizer = SGD([{"params": first}, {"params": [second], "lr": 1.0}], lr=0.1)
    optimizer.step()
    assert first.detach()[0].item() == pytest.approx(0.9)
    assert second.tolist() == [0.0] * 3
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": first})
    optimizer.add_param_group({"params": torch.ones(1, requires_grad=True), "momentum": 0.5})
    assert [group["momentum"] for group in optimizer.param_groups] == [0, 0, 0.5]
    assert "Parameter Group 2" in repr(optimizer)
    model = torch.nn.Linear(1, 1)
    assert SGD(model.named_parameters(), lr=0.1).param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(TypeError, match="ordered collections"):
        SGD([{"params": {first}}], lr=0.1)
    with pytest.raises(TypeError, match="iterable of Tensors"):
        SGD(first, lr=0.1)
    with pytest.warns(UserWarning, match="duplicate"):
        SGD([first, first], lr=0.1)


def test_closure_and_zero_grad() -> None:
    x = torch.tensor([5.0], requires_grad=True)
    optimizer = SGD([x], lr=0.25)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 25.0
    assert x.item() == 2.5
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.item() == 0.0
    optimizer.zero_grad()
    assert x.grad is None
    assert optimizer.step() is None
    assert x.item() == 2.5


def test_step_hooks() -> None:
    optimizer = SGD(_parameters(), lr=0.1)
    seen: list[str] = []
    first = optimizer.register_step_pre_hook(lambda *_: seen.append("pre"))
    optimizer.register_step_post_hook(lambda *_: seen.append("post"))
    optimizer.step()
    first.remove()
    optimizer.step()
    assert seen == ["pre", "post", "post"]


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW, RMSprop])
def test_state_continues_where_it_was(kind: type[Optimizer]) -> None:
    options: dict[str, Any] = {"lr": 0.1}
    if kind in (SGD, RMSprop):
        options["momentum"] = 0.9
    one, other = _parameters(), _parameters()
    first = kind(one, **options)
    first.step()
    second = kind(other, **{**options, "lr": 7.0})
    with torch.no_grad():
        for source, target in zip(one, other, strict=True):
            target.copy_(source)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    assert second.param_groups[0]["lr"] == 0.1
    for _ in range(3):
        first.step()
        second.step()
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    with pytest.raises(ValueError, match="different number of parameter groups"):
        kind([{"params": one[:1]}, {"params": one[1:]}], **options).load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match="doesn't match the size"):
        kind(one[:1], **options).load_state_dict(first.state_dict())


def test_state_dict_has_pytorchs_form() -> None:
    optimizer = Adam(_parameters(), lr=0.1)
    assert optimizer.state_dict()["state"] == {}
    optimizer.step()
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"]
    assert list(state["state"]) == [0, 1]
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]
    assert state["state"][0]["step"].dtype is torch.float32
    assert state["param_groups"][0]["params"] == [0, 1]


def test_an_own_optimizer() -> None:
    class Sign(Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 0.5})

        def _update(self, group: dict[str, Any], parameters: list[torch.Tensor]) -> None:
            for parameter in parameters:
                assert parameter.grad is not None
                parameter.sub_(parameter.grad.sign(), alpha=group["lr"])

    parameters = _parameters()
    Sign(parameters).step()
    assert parameters[0].tolist() == [0.5, 0.5]
    with pytest.raises(NotImplementedError, match="must define _update"):
        Optimizer(_parameters(), {}).step()


def test_schedulers_state() -> None:
    optimizer = SGD(_parameters(), lr=1.0)
    scheduler = lr_scheduler.StepLR(optimizer, 2, 0.1)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    other_optimizer = SGD(_parameters(), lr=1.0)
    other = lr_scheduler.StepLR(other_optimizer, 5, 0.9)
    other.load_state_dict(scheduler.state_dict())
    assert (other.last_epoch, other.step_size, other.get_last_lr()) == (3, 2, [0.1])
    assert lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0).state_dict()["lr_lambdas"] == [None]
    with pytest.raises(TypeError, match="is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas"):
        lr_scheduler.LambdaLR(optimizer, [])
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(SGD(_parameters(), lr=1.0), 2, last_epoch=3)


def test_schedules_count_on_steps_of_the_optimizer() -> None:
    optimizer = SGD(_parameters(), lr=1.0)
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(4)
    assert not isinstance(scheduler, lr_scheduler._LRScheduler)
    with pytest.raises(ValueError, match="ReduceLROnPlateau"):
        lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(optimizer)])


def test_hooks_of_states_and_of_all_optimizers() -> None:
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    seen: list[str] = []
    handles = [
        register_optimizer_step_pre_hook(lambda *_: seen.append("all before")),
        register_optimizer_step_post_hook(lambda *_: seen.append("all after")),
    ]

    class Twice(SGD):
        def step(self, closure: Any = None) -> Any:
            super().step()
            return super().step(closure)

    optimizer = Twice(_parameters(), lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.step()
    for handle in handles:
        handle.remove()
    assert seen == ["all before", "before", "all after"]
    assert optimizer.param_groups[0]["params"][0][0].item() == pytest.approx(0.8)
    optimizer.register_state_dict_pre_hook(lambda _: seen.append("save"))
    optimizer.register_state_dict_post_hook(lambda _, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda _, state: seen.append(str(state.pop("more"))))
    optimizer.register_load_state_dict_post_hook(lambda _: seen.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen[3:] == ["save", "1", "loaded"]


def test_states_of_older_files() -> None:
    """Their steps are plain numbers, and their groups lack what came later."""
    optimizer = Adam(_parameters(), lr=0.1)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 1
    del state["param_groups"][0]["decoupled_weight_decay"]
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state_dict()["state"][0]["step"].item() == 2.0


def test_a_rate_may_be_a_tensor() -> None:
    rate = torch.tensor(0.5)
    optimizer = SGD(_parameters(), lr=rate)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25
    assert optimizer.param_groups[0]["params"][0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", ["Adam", "SGD", "Adagrad"])
def test_options_that_exclude_each_other(name: str) -> None:
    with pytest.raises(RuntimeError, match="cannot be `True` together"):
        getattr(torch.optim, name)(_parameters(), lr=0.1, foreach=True, fused=True)
    with pytest.raises(RuntimeError, match="does not support `differentiable`"):
        getattr(torch.optim, name)(_parameters(), lr=0.1, differentiable=True, fused=True)


def test_muon_takes_matrices_and_lbfgs_one_group() -> None:
    with pytest.raises(ValueError, match="2D parameters"):
        torch.optim.Muon(_parameters())
    first, second = _parameters()
    with pytest.raises(ValueError, match="parameter groups"):
        torch.optim.LBFGS([{"params": first}, {"params": second}])
    with pytest.raises(RuntimeError, match="dense gradients"):
        torch.optim.SparseAdam([first]).step()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
        ("NAdam", {}),
        ("RAdam", {}),
        ("RMSprop", {"centered": True, "momentum": 0.5}),
        ("Adagrad", {"initial_accumulator_value": 0.5}),
        ("Adadelta", {}),
        ("Adamax", {}),
        ("ASGD", {}),
        ("Rprop", {}),
    ],
)
def test_complex_numbers_are_two_parameters_each(name: str, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    complex_one = torch.randn(4, 3, dtype=torch.complex64).requires_grad_()
    real_one = torch.view_as_real(complex_one.detach().clone()).requires_grad_()
    optimizers = [getattr(torch.optim, name)([one], **options) for one in (complex_one, real_one)]
    for _ in range(7):
        complex_one.grad = torch.randn(4, 3, dtype=torch.complex64)
        complex_one.grad[0].imag.zero_()
        real_one.grad = torch.view_as_real(complex_one.grad)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.view_as_real(complex_one.detach()).equal(real_one.detach())
    kept, real_kept = optimizers[0].state[complex_one], optimizers[1].state[real_one]
    assert list(kept) == list(real_kept)
    assert all(
        value.dtype == torch.complex64 and value.shape == (4, 3)
        for key, value in kept.items()
        if key not in ("step", "eta", "mu", "mu_product")
    )


def test_what_takes_no_complex_parameters_says_so() -> None:
    parameter = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True)
    parameter.grad = torch.ones(2, 2, dtype=torch.complex64)
    for kind in (torch.optim.Adafactor, torch.optim.Muon):
        with pytest.raises(RuntimeError, match=f"{kind.__name__} does not support complex parameters"):
            kind([parameter]).step()
    with pytest.raises(RuntimeError, match="floating point Tensors"):
        Adam([parameter], fused=True)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Adamax"])
@pytest.mark.parametrize("option", ["lr", "weight_decay"])
def test_a_gradient_goes_to_options(name: str, option: str) -> None:
    start = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)

    def train(value: torch.Tensor) -> torch.Tensor:
        options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
        parameter = start.clone().requires_grad_() * 1  # no leaf, which must not change in place
        optimizer = getattr(torch.optim, name)([parameter], **{option: value}, differentiable=True, **options)
        for step in range(7):
            parameter.grad = start * (step + 1) - 1
            optimizer.step()
        return parameter

    assert torch.autograd.gradcheck(train, (torch.tensor(0.1, dtype=torch.float64, requires_grad=True),))


def test_a_gradient_goes_to_betas() -> None:
    def train(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        parameter = torch.ones(3, dtype=torch.float64, requires_grad=True) * 1
        optimizer = Adam([parameter], lr=0.1, betas=(first, second), differentiable=True)
        for step in range(3):
            parameter.grad = torch.arange(1.0, 4, dtype=torch.float64) * (step - 1.5)
            optimizer.step()
        return parameter

    betas = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (0.9, 0.99)]
    assert torch.autograd.gradcheck(train, betas)


@pytest.mark.parametrize(
    ("norm_type", "total"),
    [("inf", 4.0), (float("inf"), 4.0), (2, 48**0.5), (1.0, 12.0), (0, 2.0)],  # 0 counts tensors, as in PyTorch
)
def test_gradients_are_clipped_by_any_norm(norm_type: Any, total: float) -> None:
    parameters = [torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)]
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 4.0)
    assert torch.nn.utils.clip_grad_norm_(parameters, 1.0, norm_type).item() == pytest.approx(total)
    assert parameters[0].grad is not None
    assert parameters[0].grad.tolist() == pytest.approx([4.0 / total] * 2, rel=1e-5)
