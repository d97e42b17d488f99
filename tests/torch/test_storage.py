"""Storages: bytes that tensors share."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import torch


def test_equal_are_those_of_the_same_memory() -> None:
    x, y = torch.ones(2), torch.ones(2)
    assert x.untyped_storage() == x[1:].untyped_storage()
    assert hash(x.untyped_storage()) == hash(x[1:].untyped_storage())
    assert x.untyped_storage() != y.untyped_storage()
    assert x.untyped_storage()._cdata == x.view(2, 1).untyped_storage()._cdata != y.untyped_storage()._cdata
    assert (x.storage() == x.storage(), x.storage() == y.storage(), x.storage() == 1) == (True, False, False)


def test_what_it_is() -> None:
    storage = torch.tensor([1, 2], dtype=torch.int16).untyped_storage()
    assert type(storage) is torch.UntypedStorage is torch.storage.UntypedStorage
    assert isinstance(storage, torch._C.StorageBase)
    assert torch.is_storage(storage)
    assert repr(storage) == " 1\n 0\n 2\n 0\n[torch.storage.UntypedStorage(device=cpu) of size 4]"
    assert (storage.nbytes(), len(storage), storage.tolist(), storage.is_cuda, storage.get_device()) == (
        4,
        4,
        [1, 0, 2, 0],
        False,
        -1,
    )
    assert storage.type() == "torch.storage.UntypedStorage"
    typed = torch.ones(2).storage()
    assert (type(typed), typed.pickle_storage_type(), typed.nbytes()) == (torch.TypedStorage, "FloatStorage", 8)
    assert isinstance(typed, torch.FloatStorage)
    assert torch.empty(2, device="meta").untyped_storage().nbytes() == 8


def test_sizes_change_in_place() -> None:
    x = torch.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    assert storage.resize_(16).nbytes() == 16
    assert x.tolist() == [1.0, 2.0]
    assert x.resize_(4).untyped_storage() == storage
    assert storage.resize_(0).nbytes() == 0


def test_copies_and_pickles() -> None:
    x = torch.tensor([1.0, 2.0])
    pair = copy.deepcopy([x, x.untyped_storage()])
    assert pair[0].untyped_storage() == pair[1] != x.untyped_storage()
    assert pickle.loads(pickle.dumps(x.untyped_storage())).tolist() == x.untyped_storage().tolist()
    assert pickle.loads(pickle.dumps(x.storage())).tolist() == [1.0, 2.0]
    other = copy.copy(x.untyped_storage())
    assert (other == x.untyped_storage(), other.tolist() == x.untyped_storage().tolist()) == (False, True)


def test_conversions_of_bytes() -> None:
    storage = torch.tensor([1, 2], dtype=torch.uint8).untyped_storage()
    assert storage.float().tolist() == [1.0, 2.0]
    x = torch.tensor([1, 256], dtype=torch.int32)
    x.untyped_storage().byteswap(torch.int32)
    assert x.tolist() == [1 << 24, 1 << 16]
    with pytest.raises(RuntimeError, match="not a multiple of 8"):
        torch.UntypedStorage(4).byteswap(torch.float64)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = storage.nothing


def test_shared_memory() -> None:
    x = torch.ones(3)
    assert not x.untyped_storage().is_shared()
    assert x.untyped_storage().share_memory_().is_shared()
    assert x.is_shared()
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_results_of_out_have_types_of_their_own() -> None:
    x = torch.tensor([[1.0, 3.0], [2.0, 0.0]])
    out = torch.empty(2), torch.empty(2, dtype=torch.int64)
    result = torch.max(x, 1, out=out)
    assert (type(result).__name__, result.values is out[0], result.indices.tolist()) == ("max_out", True, [1, 0])
    assert type(torch.max(x, 1)) is torch.return_types.max


def test_bytes_of_another_machine() -> None:
    make = torch.UntypedStorage.from_buffer
    data = b"abcdefgh"
    assert list(make(data, dtype=torch.uint8)) == list(data)
    assert bytes(make(data, "big", dtype=torch.int16).tolist()) == b"badcfehg"
    assert bytes(make(bytearray(data), "big", 1, 2, torch.int32).tolist()) == b"fedc"
    assert make(b"", dtype=torch.uint8).nbytes() == 0
    assert torch.ByteStorage.from_buffer(data).tolist() == list(data)
    assert torch.ShortStorage._from_buffer(data, byte_order="big").tolist() == [24930, 25444, 25958, 26472]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"byte_order": "little"}, RuntimeError, "'dtype' cannot be None"),
        ({"dtype": torch.int16}, RuntimeError, "need the argument 'byte_order'"),
        ({"dtype": torch.int16, "byte_order": "middle"}, ValueError, "invalid byte_order 'middle'"),
        ({"dtype": torch.uint8, "offset": 4}, ValueError, "no greater than buffer length \\(3\\), but got 4"),
        ({"dtype": torch.int16, "byte_order": "little"}, ValueError, "must be a multiple of element size \\(2\\)"),
        ({"dtype": torch.uint8, "count": 4}, ValueError, "has only 3 elements after offset 0"),
        ({"buffer": [1], "dtype": torch.uint8}, TypeError, "bytes-like"),
    ],
)
def test_bytes_that_are_no_elements(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torch.UntypedStorage.from_buffer(**{"buffer": b"abc", **arguments})
