"""Placements of distributed tensors are values; tensors made of them refuse by name."""

from __future__ import annotations

import pytest

import torch
from torch.distributed import _tensor
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard


def test_values() -> None:
    assert Shard(1) == Shard(1) != Shard(0)
    assert hash(Shard(1)) == hash(Shard(1))
    assert [repr(each) for each in (Shard(1), Replicate(), Partial("avg"))] == [
        "Shard(dim=1)",
        "Replicate()",
        "Partial(avg)",
    ]
    assert str(_StridedShard(0, split_factor=2)) == "_S(0, 2)"
    assert Shard(1).is_shard()
    assert Shard(1).is_shard(1)
    assert not Shard(1).is_shard(0)
    assert Replicate().is_replicate()
    assert Partial().is_partial("sum")
    assert isinstance(Partial(), Placement)
    assert _tensor.Shard is Shard
    with pytest.raises(TypeError):
        Shard("rows")
    with pytest.raises(AttributeError):
        Shard(0).dim = 1


def test_parts() -> None:
    parts = [Shard.local_shard_size_and_offset(10, 4, rank) for rank in range(5)]
    assert parts == [(3, 0), (3, 3), (3, 6), (1, 9), (0, 10)]


def test_what_is_made_of_them_is_not_here() -> None:
    assert not isinstance(torch.ones(2), DTensor)
    with pytest.raises(RuntimeError, match=r"distribute_tensor: it is not supported here"):
        distribute_tensor(torch.ones(2), None, [Shard(0)])
