"""torch.nn.utils._named_member_accessor: tensors of modules by name."""

from __future__ import annotations

import pytest

import torch
from torch import nn
from torch.nn.utils._named_member_accessor import NamedMemberAccessor, swap_submodule, swap_tensor


def test_tensors_are_swapped() -> None:
    layer = nn.Linear(2, 2, bias=False)
    weight = layer.weight
    other = torch.ones(2, 2)
    assert swap_tensor(layer, "weight", other) is weight
    assert layer.weight is other
    assert swap_tensor(layer, "bias", other) is None
    assert layer._parameters["bias"] is other
    swap_tensor(layer, "extra", other, allow_missing=True)
    assert layer.extra is other
    for name, error in (("x", AttributeError), ("a.b", KeyError), ("", KeyError), ("in_features", TypeError)):
        with pytest.raises(error):
            swap_tensor(layer, name, other)
    with pytest.raises(TypeError, match=r"not an instance of torch\.Tensor"):
        swap_tensor(layer, "weight", 3)  # type: ignore[arg-type]


def test_names_with_dots() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    accessor = NamedMemberAccessor(net)
    values = {name: torch.zeros(2) for name in ("0.bias", "1.running_mean")}
    before, missing = accessor.swap_tensors_dict(values)
    assert missing == []
    assert accessor.get_tensor("1.running_mean") is values["1.running_mean"]
    accessor.set_tensors_dict(before)
    assert accessor.get_tensors(before) == [*before.values()]
    with pytest.raises(RuntimeError, match="Failed to swap"):
        accessor.swap_tensors_dict({"0.bias": torch.ones(2), "2.none": torch.ones(2)})
    assert accessor.get_tensor("0.bias") is before["0.bias"]
    assert accessor.check_keys(["0.weight", "z"])[1] == ["z"]
    accessor.del_tensor("0.bias")
    assert "0.bias" not in dict(net.named_parameters())
    first = net[0]
    assert accessor.swap_submodule("0", nn.Identity()) is first
    assert isinstance(swap_submodule(net, "0", first), nn.Identity)
