"""Memory shared by DLPack: with NumPy both ways, by capsules, between tensors."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import torch
from torch.utils import dlpack

DTYPES = {
    torch.float64: np.float64,
    torch.float32: np.float32,
    torch.float16: np.float16,
    torch.int8: np.int8,
    torch.uint8: np.uint8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.uint16: np.uint16,
    torch.uint32: np.uint32,
    torch.uint64: np.uint64,
    torch.bool: np.bool_,
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_goes_both_ways(dtype: torch.dtype) -> None:
    tensor = torch.ones(2, 3, dtype=dtype)
    array = np.from_dlpack(tensor)
    assert array.dtype == DTYPES[dtype]
    assert array.tolist() == tensor.tolist()
    back = torch.from_dlpack(np.ones((2, 3), DTYPES[dtype]))
    assert back.dtype is dtype
    assert torch.equal(back, tensor)


def test_memory_is_shared() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    array = np.from_dlpack(tensor)
    tensor[0, 0] = 9
    assert array[0, 0] == 9
    source = np.arange(4, dtype=np.int16)
    taken = torch.from_dlpack(source)
    taken[1] = 7
    source[0] = 5
    assert taken.tolist() == source.tolist() == [5, 7, 2, 3]
    again = torch.from_dlpack(tensor)
    assert again.data_ptr() == tensor.data_ptr()
    assert torch.from_dlpack(tensor, copy=True).data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).reshape(3, 4).t()[::2],
        torch.ones(1).expand(3),
        torch.tensor(3.0),
        torch.ones(0, 3),
        torch.arange(8.0)[2:6],
    ],
)
def test_strides_sizes_and_offsets(tensor: torch.Tensor) -> None:
    array = np.from_dlpack(tensor)
    assert array.shape == tensor.shape
    assert torch.equal(torch.from_dlpack(np.asarray(array)), tensor)
    capsule = dlpack.from_dlpack(dlpack.to_dlpack(tensor))
    assert torch.equal(capsule, tensor)
    if tensor.numel():
        assert (capsule.stride(), capsule.data_ptr()) == (tensor.stride(), tensor.data_ptr())


def test_memory_outlives_its_first_owner() -> None:
    array, tensor = np.from_dlpack(torch.arange(1000.0)), torch.from_dlpack(np.arange(1000.0))
    gc.collect()
    assert array.sum() == tensor.sum() == 499500


def test_capsules_are_taken_once() -> None:
    capsule = torch.to_dlpack(torch.ones(2))
    assert torch.from_dlpack(capsule).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid capsule"):
        torch.from_dlpack(capsule)


def test_what_cannot_be_shared() -> None:
    with pytest.raises(BufferError, match=r"use tensor\.detach\(\)"):
        torch.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(AssertionError, match="stream should be None"):
        torch.ones(2).__dlpack__(stream=1)
    assert type(torch.ones(2).__dlpack__(stream=-1)).__name__ == "PyCapsule"
    for value in (3, None, "x"):
        with pytest.raises(RuntimeError, match="invalid capsule"):
            torch.from_dlpack(value)
    for dtype in ("S3", "M8[s]", ">f4"):
        with pytest.raises(BufferError):
            torch.from_dlpack(np.ones(2).astype(dtype))
    for tensor in (torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csc(), torch.ones(2, device="meta")):
        with pytest.raises(BufferError, match="Can't export"):
            tensor.__dlpack__()
    with pytest.raises(ValueError, match="negative"):
        torch.from_dlpack(np.arange(4)[::-1])


def test_devices_have_dlpacks_numbers() -> None:
    assert torch.ones(2).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0) == (1, 0)
    assert torch.from_dlpack(np.ones(2), device="cpu").device.type == "cpu"
    with pytest.raises(ValueError, match="on the CPU only"):
        torch.ones(2, device="meta").__dlpack_device__()
