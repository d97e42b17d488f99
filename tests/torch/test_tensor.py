"""torch.Tensor: memory shared with NumPy, copies, pickles, identity."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import torch


def test_numpy_shares_memory_both_ways() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = torch.from_numpy(array)
    tensor[0, 0] = 100
    assert array[0, 0] == 100
    back = tensor.numpy()
    back[1, 2] = -1
    assert tensor[1, 2].item() == -1
    assert back.ctypes.data == tensor.data_ptr() == array.ctypes.data
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.tensor(array).data_ptr() != array.ctypes.data


def test_memory_outlives_its_first_owner() -> None:
    tensor = torch.from_numpy(np.arange(1000.0))
    array = torch.arange(1000.0).numpy()
    _ = [np.zeros(1000) for _ in range(10)]
    assert tensor.sum().item() == array.sum() == 499500


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"])
def test_numpy_dtypes(name: str) -> None:
    array = np.array([0, 1, 1]).astype(name)
    tensor = torch.from_numpy(array)
    assert tensor.dtype is getattr(torch, name)
    assert tensor.numpy().dtype == array.dtype
    assert tensor.tolist() == array.tolist()


def test_numpy_refuses() -> None:
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(1, requires_grad=True).numpy()
    assert torch.ones(1, requires_grad=True).numpy(force=True).tolist() == [1]
    with pytest.raises(TypeError, match=r"numpy\.longdouble.*float64, float32, float16, complex64, .* uint8, and bool"):
        torch.from_numpy(np.ones(1, np.longdouble))
    with pytest.raises(TypeError, match="unsupported ScalarType BFloat16"):
        torch.ones(1, dtype=torch.bfloat16).numpy()
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match=r"object"):
        torch.from_numpy(np.array([object()]))


def test_numpy_functions_take_tensors() -> None:
    tensor = torch.tensor([1.0, 4.0])
    assert np.sqrt(tensor.numpy()).tolist() == [1.0, 2.0]
    assert np.asarray(tensor, dtype=np.int64).tolist() == [1, 4]
    assert np.array(tensor).tolist() == [1.0, 4.0]
    assert (tensor * np.float64(2)).tolist() == [2.0, 8.0]


def test_copies() -> None:
    tensor = torch.arange(6.0).reshape(2, 3).t()
    for other in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert torch.equal(other, tensor)
        assert other.stride() == tensor.stride()
    assert copy.deepcopy(tensor).data_ptr() != tensor.data_ptr()
    parts = [tensor, tensor[0]]
    first, second = copy.deepcopy(parts)
    first.zero_()
    assert second.tolist() == [0.0, 0.0]
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    twin = copy.deepcopy(leaf)
    assert twin.requires_grad
    assert twin.grad.tolist() == [1.0, 1.0]
    assert twin.grad is not leaf.grad


def test_attributes_survive_pickle() -> None:
    tensor = torch.ones(2)
    tensor.label = "mine"
    assert pickle.loads(pickle.dumps(tensor)).label == "mine"
    parameter = pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(2), requires_grad=False)))
    assert type(parameter) is torch.nn.Parameter
    assert not parameter.requires_grad
    for value in (torch.float64, torch.device("cpu"), torch.Size([1, 2])):
        assert pickle.loads(pickle.dumps(value)) == value


def test_identity_and_hash() -> None:
    x, y = torch.ones(2), torch.ones(2)
    assert len({x, y, x}) == 2
    assert {x: 1}[x] == 1


def test_storage() -> None:
    tensor = torch.arange(4.0)
    storage = tensor.untyped_storage()
    assert storage.nbytes() == 16
    assert storage.data_ptr() == tensor.data_ptr()
    assert bytes(memoryview(storage)) == tensor.numpy().tobytes()
    typed = tensor[1:].storage()
    assert (typed.dtype, typed.size(), typed.tolist(), typed[2]) == (torch.float32, 4, [0.0, 1.0, 2.0, 3.0], 2.0)
    assert tensor[1:].storage_offset() == 1


def test_subclass_and_data() -> None:
    class Mine(torch.Tensor):
        pass

    tensor = torch._C._make_subclass(Mine, torch.ones(2))
    assert isinstance(tensor, Mine)
    leaf = torch.ones(2, requires_grad=True)
    leaf.data = torch.zeros(2)
    assert leaf.requires_grad
    assert leaf.tolist() == [0, 0]
    leaf.data.add_(1)
    assert leaf.tolist() == [1, 1]
    assert leaf._version == 0


def test_default_dtype() -> None:
    torch.set_default_dtype(torch.float64)
    assert torch.ones(1).dtype is torch.get_default_dtype() is torch.float64
    assert torch.tensor(1.5).dtype is torch.float64
    assert repr(torch.tensor(1.5)) == "tensor(1.5000)"
    assert (torch.arange(2) / 2).dtype is torch.float64


def test_threads() -> None:
    before = torch.get_num_threads()
    assert before >= 1
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    found: list[int] = []

    def other() -> None:
        found.append(torch.get_num_threads())
        torch.set_num_threads(2)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [1]
    assert torch.get_num_threads() == 1, "another thread's number is its own"
    torch.set_num_threads(before)


def test_meta_tensors_have_shapes_only() -> None:
    x = torch.zeros(3, 4, device="meta")
    assert ((x @ x.t()).sum(0).shape, x.is_meta) == ((3,), True)
    with pytest.raises((RuntimeError, NotImplementedError)):
        x.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("count", [60, 61])
def test_an_input_that_every_short_row_repeats(dtype: torch.dtype, count: int) -> None:
    x = torch.arange(count * 7 * 12).reshape(count, 7, 12).remainder(50).to(dtype)
    row = torch.arange(12).to(dtype)
    expected = torch.stack([line + row for line in x.reshape(-1, 12)]).reshape(x.shape)
    assert torch.equal(x + row, expected)
    assert torch.equal(x.clone().add_(row), expected)
    assert torch.equal(x[:, 1:] + row, expected[:, 1:])
    mask = row > 5
    assert torch.equal(x.masked_fill(mask, 0), x * (row <= 5).to(dtype))


def test_one_index_for_each_row() -> None:
    x = torch.arange(5000.0).reshape(1000, 5)
    index = torch.arange(1000)[:, None] % 5
    picked = x.gather(1, index)
    assert picked.flatten().tolist() == [5 * row + row % 5 for row in range(1000)]
    assert torch.equal(torch.zeros(1000, 5).scatter(1, index, picked).sum(1), picked[:, 0])
    assert torch.equal(torch.zeros(1000, 5).scatter_add(1, index, picked).sum(1), picked[:, 0])
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.gather(1, index + 1)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_short_rows_are_computed_like_long_ones(width: int, dtype: torch.dtype) -> None:
    """Corners of boxes against one another: the iterator takes dimensions in another order, with the same answers."""
    torch.manual_seed(0)
    first, second = (torch.randn(70, 1, width) * 9).to(dtype), (torch.randn(1, 60, width) * 9).to(dtype)
    whole = [each.expand(70, 60, width).contiguous() for each in (first, second)]
    for function in (torch.maximum, torch.add, torch.lt, lambda one, other: torch.where(one < other, one, other)):
        assert torch.equal(function(first, second), function(*whole))
    wide = torch.randn(70, 60, 10).to(dtype)
    part, row = wide[..., :width], torch.arange(60)[:, None].to(dtype)
    expected = part.contiguous() * row.expand(60, width).contiguous()
    beside = wide[..., width:].clone()
    part.mul_(row)
    assert torch.equal(part, expected)
    assert torch.equal(wide[..., width:], beside)
