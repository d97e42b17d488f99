"""The meta device: shapes, element types and strides without data, from the operators' own code."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import op_db
import op_sample
import pytest

import torch
from torch import nn

# Rows of op_db of which some call's shape, or the path that it takes, depends on values.
DATA_DEPENDENT = {
    "F.one_hot",
    "Tensor.unique",
    "torch.allclose",
    "torch.argwhere",
    "torch.bincount",
    "torch.equal",
    "torch.is_nonzero",
    "torch.masked_select",
    "torch.nonzero",
    "torch.repeat_interleave",
    "torch.unique",
    "torch.unique_consecutive",
    "torch.where",
}


def facts(value: Any) -> Any:
    """What a tensor is without its values."""
    if isinstance(value, torch.Tensor):
        return value.shape, value.dtype, value.stride(), value.requires_grad
    return [facts(item) for item in value] if isinstance(value, (tuple, list)) else type(value)


def to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().to("meta").requires_grad_(value.requires_grad)
    return type(value)(to_meta(item) for item in value) if isinstance(value, (tuple, list)) else value


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for item in value for each in _tensors(item)] if isinstance(value, (tuple, list)) else []


def _answers(row: op_sample.Op, sample: op_sample.Call, dtype: str) -> tuple[Any, Any]:
    """On the CPU, and on meta."""
    args, kwargs, _ = op_sample.build(torch, sample, dtype, gradients=row.gradient)
    function = op_sample.function_of(torch, row.path)
    expected = function(*args, **kwargs)
    with torch.device("meta"):
        return expected, function(*to_meta(args), **{name: to_meta(value) for name, value in kwargs.items()})


@pytest.mark.parametrize("number", range(len(op_db.OPS)), ids=[row.path for row in op_db.OPS])
def test_operators_as_on_the_cpu(number: int) -> None:
    """Shape, element type, strides and requires_grad of every result are those of the CPU."""
    row = op_db.OPS[number]
    refused = 0
    for sample in row.calls:
        dtype = row.dtypes[0]
        try:
            expected, actual = _answers(row, sample, dtype)
        except (NotImplementedError, RuntimeError):
            if row.path not in DATA_DEPENDENT:
                raise
            refused += 1
            continue
        assert facts(actual) == facts(expected), sample
        assert all(tensor.is_meta for tensor in _tensors(actual)), sample
    assert (refused > 0) <= (row.path in DATA_DEPENDENT)


def test_gradients_have_shapes() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    net = net.to("meta")
    loss = nn.functional.cross_entropy(
        net(torch.empty(5, 3, 8, 8, device="meta")), torch.empty(5, dtype=torch.int64, device="meta")
    )
    loss.backward()
    assert [parameter.grad.shape for parameter in net.parameters()] == [
        parameter.shape for parameter in net.parameters()
    ]
    assert all(parameter.grad.is_meta for parameter in net.parameters())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "int8", "bool", "uint16"])
def test_every_element_type(dtype: str) -> None:
    x = torch.zeros(3, 4, dtype=getattr(torch, dtype))
    for function in (torch.clone, torch.t, lambda t: t.to(torch.float64), lambda t: t == t, lambda t: t[1:, [0, 2]]):
        assert facts(function(x.to("meta"))) == facts(function(x))


def test_values_are_refused() -> None:
    x = torch.empty(2, 3, device="meta")
    for read in (x.tolist, x.nonzero, x.cpu, lambda: x.to("cpu"), lambda: torch.zeros(2, 3).copy_(x), lambda: x[x > 0]):
        with pytest.raises(NotImplementedError, match=r"meta|Meta"):
            read()
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        x[0, 0].item()
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        x.numpy()
    with pytest.raises(RuntimeError, match="two devices, cpu and meta"):
        torch.ones(2, 3) + x
    assert (x + torch.ones(())).is_meta
    assert x[torch.tensor([True, False])].shape == (1, 3)
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert (x.data_ptr(), x[1].data_ptr(), x.untyped_storage().nbytes()) == (0, 0, 24)


def test_modules() -> None:
    made = nn.Linear(2, 3, device="meta")
    with torch.device("meta"):
        inside = nn.Linear(2, 3)
    assert made.weight.is_meta
    assert inside.weight.is_meta
    with pytest.raises(NotImplementedError, match=r"Please use torch\.nn\.Module\.to_empty"):
        made.to("cpu")
    source = nn.Linear(2, 3)
    made.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(made.weight, source.weight)
    assert inside.to_empty(device="cpu").weight.device.type == "cpu"
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)
    assert copy.deepcopy(nn.Linear(2, 3, device="meta")).bias.is_meta


def test_pickles_hold_no_data() -> None:
    x = torch.empty(3, 2, dtype=torch.float64, device="meta").t().requires_grad_()
    assert facts(pickle.loads(pickle.dumps(x.detach().requires_grad_()))) == facts(x.detach().requires_grad_())
    file = io.BytesIO()
    torch.save({"x": x.detach(), "p": nn.Parameter(torch.empty(2, device="meta"))}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert (loaded["x"].stride(), loaded["x"].is_meta, type(loaded["p"])) == ((1, 2), True, nn.Parameter)


def test_files_loaded_onto_meta() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(2, 3).t(), file)
    file.seek(0)
    loaded = torch.load(file, map_location="meta")
    assert (loaded.shape, loaded.stride(), loaded.is_meta) == ((3, 2), (1, 3), True)
