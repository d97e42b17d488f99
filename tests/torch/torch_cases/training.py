"""Modules forwards and backwards, optimizers step by step, schedules, data loading."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch_golden import Case

MODELS = {
    "linear": "nn.Linear(6, 3)",
    "mlp": "nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))",
    "tanh": "nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3), nn.Sigmoid())",
    "norm": "nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3), nn.LogSoftmax(dim=1))",
    "silu": "nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.LeakyReLU(0.1), nn.Linear(8, 3), nn.Softmax(dim=1))",
    "drop": "nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.4), nn.Linear(8, 3))",
    "conv": "nn.Sequential(nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.ReLU(),"
    " nn.MaxPool2d((1, 2)), nn.Dropout2d(0.25), nn.Flatten(), nn.Linear(4, 3))",
    "more": "nn.Sequential(nn.Linear(6, 8), nn.GroupNorm(2, 8), nn.PReLU(8), nn.Mish(), nn.Linear(8, 6), nn.GLU())",
    "flat": "nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Flatten(), nn.Identity(), nn.Linear(6, 3))",
}
OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "sgd dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.05}),
    "sgd nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "sgd maximize": ("SGD", {"lr": 0.1, "maximize": True}),
    "adam": ("Adam", {"lr": 0.05}),
    "adam amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "betas": (0.8, 0.95), "eps": 1e-6}),
    "adam maximize": ("Adam", {"lr": 0.05, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.05, "weight_decay": 0.1}),
    "adamw amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True}),
    "rmsprop": ("RMSprop", {"lr": 0.02}),
    "rmsprop all": ("RMSprop", {"lr": 0.02, "momentum": 0.9, "centered": True, "weight_decay": 0.01, "alpha": 0.9}),
}
OPTIMIZERS.update(
    {
        f"{name.lower()}{' ' if options else ''}{' '.join(options)}": (name, {"lr": 0.05, **options})
        for name in ("NAdam", "RAdam", "Adamax", "Adadelta", "Adagrad", "ASGD", "Adafactor")
        for options in ({}, {"maximize": True}, {"weight_decay": 0.1})
    }
)
OPTIMIZERS.update(
    {
        "rprop": ("Rprop", {"lr": 0.05}),
        "nadam decoupled": ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        "radam decoupled": ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        "radam rectified": ("RAdam", {"lr": 0.05, "betas": (0.9, 0.9)}),
        "adagrad decay": ("Adagrad", {"lr": 0.05, "lr_decay": 0.1, "initial_accumulator_value": 0.5}),
        "asgd mean": ("ASGD", {"lr": 0.05, "t0": 2}),
        "adam foreach": ("Adam", {"lr": 0.05, "foreach": True}),
        "adamw fused": ("AdamW", {"lr": 0.05, "fused": True}),
        "sgd fused": ("SGD", {"lr": 0.05, "momentum": 0.9, "fused": True}),
    }
)
SCHEDULES = {
    "step": "s.StepLR(o, 3, 0.5)",
    "multistep": "s.MultiStepLR(o, [2, 5, 5, 9], 0.5)",
    "exponential": "s.ExponentialLR(o, 0.9)",
    "cosine": "s.CosineAnnealingLR(o, 4, 0.01)",
    "constant": "s.ConstantLR(o, 0.25, 4)",
    "linear": "s.LinearLR(o, 0.1, 0.9, 6)",
    "polynomial": "s.PolynomialLR(o, 6, 2.0)",
    "restarts": "s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01)",
    "one cycle": "s.OneCycleLR(o, 0.5, 20, cycle_momentum=False)",
    "one cycle linear": "s.OneCycleLR(o, 0.5, epochs=5, steps_per_epoch=4, pct_start=0.5, anneal_strategy='linear',"
    " cycle_momentum=False)",
    "sequential": "s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 4), s.CosineAnnealingLR(o, 6)], [4])",
    "sequential of three": "s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9),"
    " s.CosineAnnealingWarmRestarts(o, 3)], [2, 6])",
    "chained": "s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)])",
    "multiplicative": "s.MultiplicativeLR(o, lambda epoch: 0.9)",
    "one cycle momentum": "s.OneCycleLR(o, 0.5, 20)",
    "one cycle three phases": "s.OneCycleLR(o, 0.5, 20, three_phase=True, anneal_strategy='linear')",
    "cyclic": "s.CyclicLR(o, 0.01, 0.1, 3, 4)",
    "cyclic halved": "s.CyclicLR(o, 0.01, 0.1, 3, mode='triangular2', cycle_momentum=False)",
    "cyclic falling": "s.CyclicLR(o, 0.01, 0.1, 3, mode='exp_range', gamma=0.9)",
    "cyclic of a function": "s.CyclicLR(o, 0.01, 0.1, 2, scale_fn=lambda x: 1 / x)",
    "swa": "w.SWALR(o, 0.05, 4)",
    "swa at once": "w.SWALR(o, 0.05, 0, 'linear')",
    "lambda": "s.LambdaLR(o, lambda epoch: 0.95 ** epoch)",
    "lambdas": "s.LambdaLR(o, [lambda epoch: 1 / (epoch + 1)])",
}


def _batch(torch: Any) -> tuple[Any, Any]:
    # Through float64, so that the last place of sin and cos does not show.
    x = torch.arange(30, dtype=torch.float64).reshape(5, 6).sin()
    y = torch.arange(15, dtype=torch.float64).reshape(5, 3).cos()
    return x.float(), y.float()


def _model(text: str, torch: Any) -> Any:
    model = eval(text, {"nn": torch.nn})
    x, y = _batch(torch)
    output = model(x)
    loss = torch.nn.functional.mse_loss(output, y)
    loss.backward()
    return {
        "state": dict(model.state_dict()),
        "output": output,
        "loss": loss,
        "gradients": [parameter.grad for parameter in model.parameters()],
        "names": [name for name, _ in model.named_parameters()],
        "modules": [name for name, _ in model.named_modules()],
    }


def _trajectory(name: str, options: dict[str, Any], torch: Any) -> Any:
    """Parameters and state after some steps, in float64 so that only real differences show."""
    model = eval(MODELS["tanh"], {"nn": torch.nn}).double()
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)
    x, y = (value.double() for value in _batch(torch))
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    state = optimizer.state_dict()
    groups = [{k: repr(v) for k, v in sorted(group.items())} for group in state["param_groups"]]
    entries = {
        str(key): {k: state["state"][key][k] for k in sorted(state["state"][key])} for key in sorted(state["state"])
    }
    return {"losses": losses, "parameters": list(model.parameters()), "state": entries, "groups": groups}


def _schedule(text: str, torch: Any) -> Any:
    parameter = torch.zeros(1, requires_grad=True)
    parameter.grad = torch.ones(1)
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    names = {"s": torch.optim.lr_scheduler, "o": optimizer, "w": torch.optim.swa_utils}
    scheduler = eval(text, names)
    rates = []
    for _ in range(14):
        group = optimizer.param_groups[0]
        rates.append([group["lr"], group["momentum"], scheduler.get_last_lr()[0]])
        optimizer.step()
        scheduler.step()
    state = scheduler.state_dict()
    state.pop("_scale_fn_ref", None)  # a method of the class in PyTorch, where one of CyclicLR's own is used
    return {"rates": rates, "state": {key: repr(state[key]) if key == "milestones" else state[key] for key in state}}


def _lbfgs(options: dict[str, Any], torch: Any) -> Any:
    """The Rosenbrock valley from the classical start."""
    point = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([point], **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (1 - point[0]) ** 2 + 100 * (point[1] - point[0] ** 2) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(3)]
    state = optimizer.state_dict()["state"][0]
    return {"losses": losses, "point": point, "keys": sorted(state), "counts": [state["n_iter"], state["func_evals"]]}


def _muon(torch: Any) -> Any:
    answer = []
    for options in ({}, {"adjust_lr_fn": "match_rms_adamw", "nesterov": False}):
        weight = torch.arange(12.0).reshape(4, 3).sin().requires_grad_()
        optimizer = torch.optim.Muon([weight], lr=0.05, **options)
        for _ in range(3):
            optimizer.zero_grad()
            (weight.cos() * weight).sum().backward()
            optimizer.step()
        answer.append([weight.detach(), optimizer.state_dict()["state"]])
    return answer


def _averages(torch: Any) -> Any:
    swa = torch.optim.swa_utils
    answer = []
    for options in (
        {},
        {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
        {"avg_fn": swa.get_ema_avg_fn(0.9), "use_buffers": True},
        {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    ):
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        average = swa.AveragedModel(model, **options)
        for step in range(3):
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.fill_(step * 1.5)
            average.update_parameters(model)
        data = torch.arange(8.0).reshape(4, 2)
        swa.update_bn([data[:2], (data[2:], 0)], average)
        answer.append(dict(average.state_dict()))
    return answer


def _differentiable(name: str, torch: Any) -> Any:
    """The gradient through a step, with respect to where it starts."""
    start = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    point = start.clone()
    optimizer = getattr(torch.optim, name)([point], lr=0.1, differentiable=True)
    point.grad = (start * start * start).clone()
    optimizer.step()
    (point * point).sum().backward()
    return [point.detach(), start.grad]


def _plateau(torch: Any) -> Any:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    make = torch.optim.lr_scheduler.ReduceLROnPlateau
    answer = []
    for options in (
        {"patience": 1, "cooldown": 1},
        {"mode": "max", "threshold_mode": "abs", "patience": 0, "min_lr": 0.02},
    ):
        optimizer.param_groups[0]["lr"] = 0.1
        scheduler = make(optimizer, factor=0.5, **options)
        for metric in (1.0, 0.9, 0.9, 0.95, 0.9, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6):
            scheduler.step(metric)
            answer.append(optimizer.param_groups[0]["lr"])
    return answer


def _clipping(torch: Any) -> Any:
    parameters = [torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.ones(3, requires_grad=True)]

    def set_gradients() -> None:
        parameters[0].grad, parameters[1].grad = torch.arange(6.0).reshape(2, 3) - 2, torch.full((3,), 2.0)

    answer = []
    for norm in (2.0, 1.0, float("inf")):
        set_gradients()
        total = torch.nn.utils.clip_grad_norm_(parameters, 1.5, norm)
        answer.append([total, [parameter.grad.clone() for parameter in parameters]])
    set_gradients()
    torch.nn.utils.clip_grad_value_(parameters, 1.0)
    answer.append([parameter.grad for parameter in parameters])
    vector = torch.nn.utils.parameters_to_vector(parameters)
    torch.nn.utils.vector_to_parameters(vector * 2, parameters)
    return [*answer, vector, parameters]


def _collate(torch: Any) -> Any:
    collate = torch.utils.data.default_collate
    return [
        collate([1, 2]),
        collate([1.5, 2.5]),
        collate([torch.zeros(2), torch.ones(2)]),
        collate([(1, "a"), (2, "b")]),
        collate([{"x": 1, "y": torch.ones(1)}, {"x": 2, "y": torch.zeros(1)}]),
        collate([True, False]),
    ]


def _dataset(torch: Any) -> Any:
    data = torch.utils.data
    dataset = data.TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
    both = dataset + data.Subset(dataset, [4, 0])
    loader = data.DataLoader(both, batch_size=3)
    return [len(both), both[6], both[-1], len(loader), list(loader), len(data.DataLoader(both, 3, drop_last=True))]


CASES: dict[str, Case] = {f"model {k}": Case(partial(_model, text), 2e-5, 2e-6) for k, text in MODELS.items()}
CASES.update({f"optimizer {k}": Case(partial(_trajectory, *v), 1e-6, 1e-7) for k, v in OPTIMIZERS.items()})
CASES.update({f"schedule {k}": Case(partial(_schedule, text), 1e-12) for k, text in SCHEDULES.items()})
CASES["optimizer lbfgs"] = Case(partial(_lbfgs, {"lr": 0.1, "max_iter": 4, "history_size": 2}), 1e-6)
CASES["optimizer lbfgs wolfe"] = Case(partial(_lbfgs, {"line_search_fn": "strong_wolfe", "max_iter": 4}), 1e-6)
CASES["optimizer muon"] = Case(_muon, 1e-2, 1e-3)  # it computes in bfloat16
CASES["averages"] = Case(_averages, 1e-6, 1e-7)
DIFFERENTIABLE = ("SGD", "Adam", "NAdam", "RAdam", "Adamax", "Adadelta", "Adagrad", "RMSprop", "Rprop")
CASES.update({f"differentiable {name}": Case(partial(_differentiable, name), 1e-5, 1e-8) for name in DIFFERENTIABLE})
CASES["schedule plateau"] = Case(_plateau, 1e-12)
CASES["clipping"] = Case(_clipping, 1e-6, 1e-6)
CASES["collate"] = Case(_collate)
CASES["dataset"] = Case(_dataset)
