"""Memory of CUDA devices shared by DLPack."""

from __future__ import annotations

import pytest

import torch
from torch.utils.dlpack import DLDeviceType

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))


def test_memory_is_shared() -> None:
    tensor = torch.arange(6.0, device="cuda").to(torch.bfloat16).reshape(2, 3)
    assert tensor.__dlpack_device__() == (DLDeviceType.kDLCUDA, 0)
    shared = torch.from_dlpack(tensor)
    shared[0, 0] = 9
    assert (shared.device, shared.dtype, shared.data_ptr()) == (tensor.device, tensor.dtype, tensor.data_ptr())
    assert tensor.tolist() == [[9, 1, 2], [3, 4, 5]]


def test_the_takers_stream_waits_for_the_owner() -> None:
    taking = torch.cuda.Stream()
    tensor = torch.zeros(1000, device="cuda")
    for _ in range(20):
        tensor += 1
    capsule = tensor.__dlpack__(stream=taking.cuda_stream)
    with torch.cuda.stream(taking):
        shared = torch.from_dlpack(capsule) + 1
    taking.synchronize()
    assert shared.tolist() == [21] * 1000
    with pytest.raises(BufferError, match="per-thread"):
        tensor.__dlpack__(stream=2)
    assert torch.from_dlpack(tensor.__dlpack__(stream=None)).tolist() == [20] * 1000


def test_devices_are_changed_by_copies() -> None:
    tensor = torch.arange(3.0, device="cuda")
    moved = torch.from_dlpack(tensor, device="cpu")
    assert (moved.device.type, moved.tolist()) == ("cpu", [0, 1, 2])
    assert torch.from_dlpack(moved, device="cuda").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="without copying"):
        torch.from_dlpack(tensor, device="cpu", copy=False)
