"""torch.masked.MaskedTensor: PyTorch's operators, texts and errors."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import torch
from torch.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

DATA = torch.arange(12.0).reshape(3, 4)
MASK = DATA % 2 == 0
ROW = torch.tensor([True, False, True])


def sample(**options: Any) -> MaskedTensor:
    return masked_tensor(DATA, MASK, **options)


def values(tensor: torch.Tensor) -> list[Any]:
    """The elements, with None where the mask drops them."""
    assert isinstance(tensor, MaskedTensor)
    pairs = zip(tensor.get_data().reshape(-1).tolist(), tensor.get_mask().reshape(-1).tolist(), strict=True)
    return [value if kept else None for value, kept in pairs]


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (lambda: masked_tensor(torch.tensor([1.0, 2, 3]), ROW), "MaskedTensor(\n  [  1.0000,       --,   3.0000]\n)"),
        (lambda: masked_tensor(torch.tensor([1, 2, 3]), ROW), "MaskedTensor(\n  [1,       --, 3]\n)"),
        (
            lambda: masked_tensor(torch.tensor([-12345.678, 1]), ROW[:2]),
            "MaskedTensor(\n  [-12345.6777,          --]\n)",
        ),
        (lambda: masked_tensor(torch.tensor(5), torch.tensor(True)), "MaskedTensor(5, True)"),
        (lambda: masked_tensor(torch.tensor(1.0), torch.tensor(False)), "MaskedTensor(--, False)"),
        (lambda: sample().sum(), "MaskedTensor( 30.0000, True)"),
        (
            lambda: masked_tensor(torch.arange(8.0).view(2, 2, 2) * 1000, torch.arange(8).view(2, 2, 2) % 3 == 0),
            "MaskedTensor(\n  [\n    [\n      [  0.0000,       --],\n      [       --, 3000.0000]\n    ],\n"
            "    [\n      [      --,       --],\n      [6000.0000,        --]\n    ]\n  ]\n)",
        ),
    ],
)
def test_text(tensor: Any, text: str) -> None:
    assert repr(tensor()) == str(tensor()) == f"{tensor()}" == text


@pytest.mark.parametrize(
    ("data", "mask", "error", "message"),
    [
        ([1.0], ROW, TypeError, "data must be a Tensor"),
        (torch.ones(3), [True] * 3, TypeError, "mask must be a Tensor"),
        (torch.ones(3), torch.ones(3), TypeError, "mask must have dtype bool."),
        (torch.ones(3, dtype=torch.complex64), ROW, TypeError, "torch.complex64 is not supported in MaskedTensor."),
        (torch.ones(3, dtype=torch.bfloat16), ROW, TypeError, "torch.bfloat16 is not supported in MaskedTensor."),
        (torch.ones(2), ROW, ValueError, r"data.size\(\) must equal mask.size\(\)"),
        (torch.ones(1, 3), ROW, ValueError, r"data.dim\(\) must equal mask.dim\(\)"),
        (torch.eye(2).to_sparse(), torch.eye(2) > 0, TypeError, "data and mask must have the same layout."),
        (torch.eye(2).to_sparse_csc(), torch.eye(2).bool().to_sparse_csc(), TypeError, "sparse_csc is not supported."),
        (torch.eye(2).to_sparse(), (torch.eye(2) < 1).to_sparse(), ValueError, "do not have the same indices"),
        (torch.eye(2).to_sparse_csr(), (torch.eye(2) < 1).to_sparse_csr(), ValueError, "do not share either crow or"),
    ],
)
def test_parts_must_fit(data: Any, mask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        masked_tensor(data, mask)


def test_making_one_copies_and_warns_of_history() -> None:
    data = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="leaves the history of its data behind"):
        tensor = masked_tensor(data, ROW[:2])
    assert not tensor.requires_grad
    assert tensor.get_data().data_ptr() != data.data_ptr()
    assert is_masked_tensor(tensor)
    assert not is_masked_tensor(data)
    with pytest.raises(TypeError, match="data must be a Tensor"):
        masked_tensor(tensor, ROW[:2])


def test_elementwise_functions_keep_the_mask() -> None:
    tensor = sample()
    kept = [0.0, None, 2.0, None, 4.0, None, 6.0, None, 8.0, None, 10.0, None]

    def each(function: Any) -> list[Any]:
        return [None if value is None else function(value) for value in kept]

    assert values(tensor + tensor) == values(tensor * 2) == each(lambda x: 2 * x)
    assert values(tensor + DATA) == values(DATA + tensor) == each(lambda x: 2 * x)
    assert values(1 - tensor) == each(lambda x: 1 - x)
    assert values(tensor < 5) == each(lambda x: x < 5)
    assert values(tensor**2) == values(torch.square(tensor)) == each(lambda x: x * x)
    assert values(tensor.clamp(1, 5)) == each(lambda x: min(max(x, 1), 5))
    assert values(tensor // 4) == each(lambda x: x // 4)
    assert values(-tensor) == each(lambda x: -x)
    assert (tensor + torch.ones(2, 3, 4)).shape == (2, 3, 4)
    assert values(~masked_tensor(MASK, MASK)) == each(lambda x: False)
    assert values(tensor.mul_(3)) == values(tensor) == each(lambda x: 3 * x)
    tensor += sample()
    assert values(tensor) == each(lambda x: 4 * x)


def test_masks_must_match() -> None:
    other = masked_tensor(DATA, ~MASK)
    for call in (
        lambda: sample() + other,
        lambda: sample().add_(other),
        lambda: sample() + masked_tensor(DATA[0], MASK[0]),
    ):
        with pytest.raises(ValueError, match="Input masks must match"):
            call()
    with pytest.raises(TypeError, match="do not support additional Tensor arguments"):
        sample().pow(sample())
    assert values(other.copy_(sample())) == values(sample())
    with pytest.raises(TypeError, match="in place"):
        DATA.clone().add_(sample())


def test_reductions() -> None:
    tensor = sample()
    assert values(tensor.sum(0)) == [12, None, 18, None]
    assert values(torch.sum(tensor, dim=1, keepdim=True)) == [2, 10, 18]
    assert values(tensor.mean()) == [5]
    assert values(tensor.prod(1)) == [0, 24, 80]
    assert values(tensor.amax(0)) == [8, None, 10, None]
    assert values(torch.amin(tensor, dim=(0, 1))) == [0]
    assert values(tensor.argmax()) == [10]
    assert values(tensor.argmin(1)) == [0, 0, 0]
    assert values(tensor.all(0)) == [False, None, True, None]
    assert values(tensor.var(0)) == [16, None, 16, None]
    assert values(tensor.std(0, unbiased=False)) == pytest.approx([128**0.5 / 12**0.5, None, 128**0.5 / 12**0.5, None])
    assert values(torch.norm(tensor, dim=1)) == pytest.approx([2, 52**0.5, 164**0.5])
    assert values(tensor.softmax(0).sum(0)) == pytest.approx([1, None, 1, None])
    assert values(masked_tensor(torch.ones(2), torch.zeros(2, dtype=torch.bool)).sum()) == [None]
    assert tensor.sum().item() == float(tensor.sum()) == 30
    assert bool(tensor.sum() > 3)


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x[0],
        lambda x: x[:, 1:3],
        lambda x: x[torch.tensor([0, 2])],
        lambda x: x.t(),
        lambda x: x.transpose(0, 1).contiguous(),
        lambda x: x.permute(1, 0),
        lambda x: x.reshape(4, 3),
        lambda x: x.view(-1),
        lambda x: x.unsqueeze(0).expand(2, 3, 4),
        lambda x: x.unfold(1, 2, 1),
        lambda x: x.flip(0),
        lambda x: x.clone(),
        lambda x: torch.split(x, 2)[1],
        lambda x: x.chunk(2, 1)[0],
        lambda x: x.unbind(1)[1],
        lambda x: torch.cat([x, x]),
        lambda x: torch.stack([x, x], 1),
        lambda x: torch.nn.functional.unfold(x.reshape(1, 1, 3, 4), 2),
    ],
)
def test_moving_elements_moves_the_mask(move: Any) -> None:
    result = move(sample())
    torch.testing.assert_close(result.get_data(), move(DATA))
    assert result.get_mask().dtype is torch.bool
    assert torch.equal(result.get_mask(), move(MASK.float()) > 0)


def test_choosing_and_converting() -> None:
    both = torch.where(MASK, sample(), masked_tensor(-DATA, ~MASK))
    assert values(both) == torch.where(MASK, DATA, -DATA).reshape(-1).tolist()
    assert values(sample().where(MASK, torch.tensor(7.0)))[:3] == [0, 7, 2]
    assert sample().to_tensor(-1).tolist()[0] == [0, -1, 2, -1]
    assert sample().double().dtype is torch.float64
    assert values(sample().int())[:3] == [0, None, 2]
    assert values(torch.ones_like(sample()))[:3] == [1, None, 1]
    tensor = sample()
    assert (tensor.shape, tensor.dim(), len(tensor), tensor.stride(), tensor.numel()) == ((3, 4), 2, 3, (4, 1), 12)
    for same in (copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor)), tensor.detach()):
        assert values(same) == values(tensor)
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        tensor.tolist()
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        tensor.numpy()


@pytest.mark.parametrize(
    "call", [lambda x: x.cumsum(0), lambda x: x @ x.t(), torch.relu, lambda x: x.max(0), lambda x: x.__setitem__(0, 1)]
)
def test_what_has_no_meaning_is_a_type_error(call: Any) -> None:
    with pytest.raises(TypeError):
        call(sample())


def test_sparse_layouts() -> None:
    for tensor, layout in ((sample().to_sparse(), torch.sparse_coo), (sample().to_sparse_csr(), torch.sparse_csr)):
        assert tensor.layout is layout
        assert tensor.is_sparse_coo() is (layout is torch.sparse_coo)
        assert tensor.is_sparse_csr() is (layout is torch.sparse_csr)
        assert values(tensor.to_dense()) == [None if value is None else value for value in values(sample())]
        assert values((tensor * tensor).cos().to_dense())[:3] == pytest.approx(
            [1, None, torch.tensor(4.0).cos().item()]
        )
        assert values(tensor.sum(0)) == [12, None, 18, None]
        assert repr(tensor) == repr(sample())
        assert tensor.to_tensor(-1).tolist()[0] == [0, -1, 2, -1]
    with pytest.raises(ValueError, match="must have the same layout"):
        _ = sample().to_sparse() + sample()


def test_gradients_have_the_mask() -> None:
    leaf = sample(requires_grad=True)
    assert leaf.is_leaf
    (leaf * leaf).sum().backward()
    assert values(leaf.grad) == [None if value is None else 2 * value for value in values(sample())]  # type: ignore[arg-type]
    (gradient,) = torch.autograd.grad((leaf * 3).view(-1).sum(), leaf)
    assert values(gradient)[:3] == [3, None, 3]
    leaf.grad = None
    assert leaf.grad is None
    leaf.exp()[0].backward(torch.ones(4))
    assert values(leaf.grad)[4:] == [0, None] * 4  # type: ignore[arg-type]


def test_branches_that_are_not_taken_give_no_nan() -> None:
    x = torch.tensor([-10.0, -5, 0, 50, 100])
    negative = x < 0
    one = masked_tensor(x, negative, requires_grad=True)
    other = masked_tensor(torch.ones_like(x), ~negative, requires_grad=True)
    torch.where(negative, torch.exp(one), other).sum().backward()
    assert values(one.grad) == pytest.approx([4.54e-5, 6.7379e-3, None, None, None], rel=1e-3)  # type: ignore[arg-type]
    assert values(other.grad) == [None, None, 1, 1, 1]  # type: ignore[arg-type]


def test_gradients_pass_through_as_masked_tensor() -> None:
    x = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = as_masked_tensor(x * 2, ROW)
    (tensor * tensor.get_data()).mean().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 0, 4]
