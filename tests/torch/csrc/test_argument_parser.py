"""What calls are accepted, and what those that are not are told."""

from __future__ import annotations

import inspect
import re

import pytest

import torch


def test_keywords_defaults_and_aliases() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.add(input=x, other=1, alpha=2).tolist() == [[3, 4], [5, 6]]
    assert x.sum(axis=0).tolist() == torch.sum(x, dim=(0,)).tolist() == [4, 6]
    assert torch.sum(x, 0, keepdims=True).shape == (1, 2)
    assert x.view(4).shape == x.view((4,)).shape == x.view(torch.Size([4])).shape == (4,)
    assert x.permute(1, 0).tolist() == x.permute((1, 0)).tolist()
    assert torch.zeros(2, 3, dtype=torch.int64).dtype is torch.int64
    out = torch.empty(2, 2)
    assert torch.add(x, x, out=out) is out
    assert out.tolist() == [[2, 4], [6, 8]]


def test_overloads_are_told_apart_by_types() -> None:
    x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    assert torch.max(x).item() == 7
    assert torch.max(x, 1).indices.tolist() == [1, 0]
    assert torch.max(x, torch.full_like(x, 3.0)).tolist() == [[3, 5], [7, 3]]
    assert torch.pow(2, x).tolist() == [[2, 32], [128, 4]]
    assert x.split(1)[0].tolist() == x.split([1, 1])[0].tolist() == [[1, 5]]
    assert x.to("cpu") is x
    assert x.to(torch.int64).dtype is torch.int64


def test_numbers_of_every_kind() -> None:
    numpy = pytest.importorskip("numpy")
    x = torch.ones(2)
    for number in (2, 2.0, numpy.float32(2), numpy.int64(2), torch.tensor(2)):
        assert torch.mul(x, number).tolist() == [2, 2]
        assert torch.full((2,), number, dtype=torch.float32).tolist() == [2, 2]
    assert x.narrow(0, numpy.int64(1), torch.tensor(1)).tolist() == [1]
    assert (x + True).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.add(x, "a"), "add(): argument 'other' (position 2) must be Tensor, not str"),
        (lambda x: x.add("a"), "add(): argument 'other' (position 1) must be Tensor, not str"),
        (lambda x: x.mm(), 'mm() missing 1 required positional argument: "mat2"'),
        (lambda x: x.mm(x, x), "mm() takes 1 positional argument but 2 were given"),
        (lambda x: x.mm(x, foo=1), "mm() got an unexpected keyword argument 'foo'"),
        (lambda x: x.mm(x, mat2=x), "mm() got multiple values for argument 'mat2'"),
        (lambda x: torch.cat([x, 1]), "must be tuple of Tensors, but found element of type int at pos 1"),
        (lambda x: x.reshape(2, 1.5), "must be tuple of ints, but found element of type float at pos 1"),
        (lambda x: torch.ones(2, dtype="f"), "ones(): argument 'dtype' must be torch.dtype, not str"),
        (lambda x: x.sum("q"), "sum() received an invalid combination of arguments - got (str), but expected one of:"),
        (lambda x: x.sum(True), "got (bool)"),
    ],
)
def test_messages(call: object, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call(torch.ones(2, 2))  # type: ignore[operator]


def test_python_falls_back_to_the_other_operand() -> None:
    class Other:
        def __radd__(self, left: object) -> str:
            return "other"

    x = torch.ones(2)
    assert x + Other() == "other"
    assert (x == "text") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "text"


def test_signatures_and_documentation() -> None:
    assert str(inspect.signature(torch.add)) == "(input, other, *, alpha=1, out=None)"
    assert "Tensor or Number other" in torch.add.__doc__
    functions = torch._C._VariableFunctions
    assert all(getattr(functions, name).__doc__ for name in dir(functions) if not name.startswith("_"))


def test_named_results() -> None:
    result = torch.sort(torch.tensor([2.0, 1.0]))
    values, indices = result
    assert result.values is values
    assert result[1] is indices
    assert repr(result).startswith("torch.return_types.sort(\nvalues=tensor(")


def test_the_gil_is_released_for_large_tensors() -> None:
    import threading

    x = torch.rand(1500, 1500)
    ticks = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    while len(ticks) < 2:
        pass
    before = len(ticks)
    for _ in range(20):
        x = (x @ x) * 1e-3
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 0
