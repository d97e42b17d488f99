"""Memory shared by DLPack: with NumPy both ways, by capsules, between tensors."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys

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
    assert torch.from_dlpack(np.arange(1)[::-1]).tolist() == [0]
    with pytest.raises(TypeError, match="stream must be"):
        torch.ones(2).__dlpack__(stream="1")
    with pytest.raises(ValueError, match="without copying"):
        torch.ones(2).__dlpack__(dl_device=(2, 0), copy=False)
    with pytest.raises(BufferError, match="device type 10"):
        torch.ones(2).__dlpack__(dl_device=(10, 0))
    with pytest.raises(ValueError, match="Unknown device type meta"):
        torch.from_dlpack(torch.ones(2), device="meta")


def test_devices_have_dlpacks_numbers() -> None:
    assert torch.ones(2).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0) == (1, 0)
    assert torch.from_dlpack(np.ones(2), device="cpu").device.type == "cpu"
    with pytest.raises(ValueError, match="Unknown device type meta"):
        torch.ones(2, device="meta").__dlpack_device__()


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3)])
def test_capsules_are_of_the_version_that_the_taker_knows(max_version: tuple[int, int] | None) -> None:
    capsule = torch.ones(2).__dlpack__(max_version=max_version)
    is_old = max_version is None or max_version[0] < 1
    assert repr(capsule).split('"')[1] == ("dltensor" if is_old else "dltensor_versioned")
    assert torch.from_dlpack(capsule).tolist() == [1, 1]
    assert repr(capsule).split('"')[1] == ("used_dltensor" if is_old else "used_dltensor_versioned")


def test_bfloat16_is_shared_without_numpy() -> None:
    tensor = torch.arange(4.0).to(torch.bfloat16)
    shared = torch.from_dlpack(tensor)
    assert shared.dtype is torch.bfloat16
    shared[0] = 5
    assert tensor.tolist() == [5, 1, 2, 3]
    subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], check=True)


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import torch
assert torch.from_dlpack(torch.arange(3)).tolist() == [0, 1, 2]
"""


def test_a_copy_is_said_to_be_one() -> None:
    tensor = torch.ones(2)
    for capsule, is_copied in ((tensor.__dlpack__(max_version=(1, 0), copy=True), True), (versioned(tensor), False)):
        managed = ManagedVersioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
        assert (managed.major, managed.flags) == (1, 2 if is_copied else 0)
        assert (torch.from_dlpack(capsule).data_ptr() == tensor.data_ptr()) is not is_copied


def test_a_library_from_before_dlpack_1() -> None:
    class Old:
        def __dlpack__(self, stream: None = None) -> object:
            return torch.to_dlpack(torch.ones(2))

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    assert torch.from_dlpack(Old()).tolist() == [1, 1]


class Description(ctypes.Structure):
    """DLTensor, as the standard has it."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_index", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Description),
    )


def versioned(tensor: torch.Tensor) -> object:
    return tensor.__dlpack__(max_version=(1, 0))


def pointer_of(capsule: object, name: bytes) -> int:
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    pointer: int = function(capsule, name)
    return pointer


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"code": 3}, BufferError, "type code 3 with 32 bits"),
        ({"bits": 8}, BufferError, "type code 2 with 8 bits"),
        ({"lanes": 4}, BufferError, "4 lanes"),
        ({"device_type": 7}, BufferError, "device type 7"),
        ({"ndim": -1}, BufferError, "-1 dimensions"),
        ({"shape": (-2, 3)}, RuntimeError, "numel"),
        ({"shape": (2**40, 2**40)}, RuntimeError, "numel"),
        ({"strides": (2**62, 1)}, RuntimeError, "overflowed"),
        ({"strides": (-3, 1)}, ValueError, "stride -3"),
    ],
)
def test_descriptions_that_no_tensor_has(change: dict[str, object], error: type[Exception], message: str) -> None:
    capsule = versioned(torch.ones(2, 3))
    managed = ManagedVersioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    for name, value in change.items():
        if isinstance(value, tuple):
            numbers = getattr(managed.tensor, name)
            numbers[0], numbers[1] = value
        else:
            setattr(managed.tensor, name, value)
    with pytest.raises(error, match=message):
        torch.from_dlpack(capsule)


def test_another_major_version_is_refused() -> None:
    capsule = versioned(torch.ones(2))
    ManagedVersioned.from_address(pointer_of(capsule, b"dltensor_versioned")).major = 2
    with pytest.raises(BufferError, match=r"DLPack 2\.\d"):
        torch.from_dlpack(capsule)


def test_without_strides_and_with_an_offset() -> None:
    capsule = versioned(torch.arange(8.0).reshape(2, 4))
    managed = ManagedVersioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
    managed.tensor.strides = None
    managed.tensor.shape[1] = 3
    managed.tensor.byte_offset = 4
    assert torch.from_dlpack(capsule).tolist() == [[1, 2, 3], [4, 5, 6]]
