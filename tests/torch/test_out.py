"""What is generated of a row beside its function: out= of one tensor and of several, factories, in-place forms."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import torch

X = torch.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])


def test_an_output_of_another_shape_is_resized_with_a_word() -> None:
    """Functions that write in place and functions whose result is copied say the same; empty ones are silent."""
    for function, arguments in ((torch.add, (X, X)), (torch.cumsum, (X, 1))):
        out = torch.zeros(4)
        with pytest.warns(UserWarning, match=r"was resized since it had shape \[4\], which does not match .* \[2, 3\]"):
            function(*arguments, out=out)
        assert torch.equal(out, function(*arguments))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            function(*arguments, out=torch.empty(0))
            with pytest.raises(UserWarning, match="was resized"):
                function(*arguments, out=torch.zeros(4))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("max", (1,)), ("sort", ()), ("topk", (2,)), ("kthvalue", (2,)), ("cummax", (1,)), ("mode", ()), ("median", (1,))],
)
def test_several_outputs(name: str, arguments: tuple[Any, ...]) -> None:
    function = getattr(torch, name)
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    result = function(X, *arguments, out=(values, indices))
    assert result[0] is values
    assert result[1] is indices
    expected = function(X, *arguments)
    assert (type(result).__name__, type(expected).__name__) == (f"{name}_out", name)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(result, expected, strict=True))
    with pytest.raises(TypeError, match="expected tuple of 2 elements but got 1"):
        function(X, *arguments, out=(values,))
    with pytest.raises(RuntimeError, match="can't be cast"):
        function(X, *arguments, out=(torch.empty(0, dtype=torch.int64), indices))


def test_factories_fill_what_they_are_given() -> None:
    out = torch.empty(3, dtype=torch.float64)
    assert torch.linspace(0, 1, 3, out=out) is out
    assert out.tolist() == [0, 0.5, 1]
    assert torch.arange(3, out=torch.empty(0, dtype=torch.int32)).dtype is torch.int32
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.zeros(3, dtype=torch.float32, out=out)


def test_in_place_forms_of_functions_that_make_new_tensors() -> None:
    x = X.clone().requires_grad_()
    y = (x * 1).cumsum_(1)
    y.sum().backward()
    assert torch.equal(y.detach(), X.cumsum(1))
    assert x.grad is not None
    assert x.grad.tolist() == [[3, 2, 1], [3, 2, 1]]
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        torch.tensor([1, 2]).atan_()
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.zeros(3).fmod_(torch.ones(2, 3))


def test_tensors_that_become_views() -> None:
    x = torch.arange(6.0).reshape(1, 2, 3)
    same = x
    assert x.squeeze_() is same
    assert x.shape == (2, 3)
    assert x.t_().shape == (3, 2)
    assert x.unsqueeze_(0).transpose_(0, 2).shape == (2, 3, 1)
    leaf = torch.ones(2, 1, requires_grad=True)
    result = (leaf * 3).squeeze_(1)
    (result * torch.tensor([1.0, 2.0])).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[3], [6]]
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.squeeze_()


def test_numbers_do_not_stand_for_all_tensors() -> None:
    for function in (torch.xlogy, torch.bitwise_left_shift, torch.special.zeta):
        with pytest.raises(TypeError):
            function(2, 3)


def test_conversions_take_a_memory_format() -> None:
    x = torch.zeros(2, 3, 4, 5)
    assert x.double(memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert x.transpose(0, 1).half(memory_format=torch.contiguous_format).is_contiguous()
    assert x.int(memory_format=torch.preserve_format).dtype is torch.int32
