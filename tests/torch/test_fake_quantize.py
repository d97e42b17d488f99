"""Numbers rounded as quantization would, and the modules that find scales for them; PyTorch 2.13 gives these values."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch.ao import quantization
from torch.ao.quantization import observer as observers

X = torch.tensor([-1.5, -0.26, 0.0, 0.25, 0.35, 3.0, float("nan")])
ROUNDED = [-0.2, -0.2, 0.0, 0.2, 0.4, 0.8, -0.2]
INT32 = torch.int32


def test_one_scale() -> None:
    assert torch.fake_quantize_per_tensor_affine(X, 0.1, 2, 0, 10).tolist() == pytest.approx(ROUNDED)
    scale, zero_point = torch.tensor([0.1]), torch.tensor([2], dtype=INT32)
    assert torch.fake_quantize_per_tensor_affine(X, scale, zero_point, 0, 10).tolist() == pytest.approx(ROUNDED)
    half = torch.fake_quantize_per_tensor_affine(X.half(), 0.1, 2, 0, 10)
    assert half.dtype == torch.float16
    assert half[5].item() == 0.7998046875
    wide = torch.fake_quantize_per_tensor_affine(X.double(), 0.1, 2, 0, 10)  # where 0.35 is a little less than here
    assert wide[4].item() == pytest.approx(0.3)


def test_gradients_go_through_where_nothing_was_clamped() -> None:
    x = X[:-1].clone().requires_grad_()
    y = torch.fake_quantize_per_tensor_affine(x, 0.1, 2, 0, 10)
    assert type(y.grad_fn).__name__ == "FakeQuantizePerTensorAffineCachemaskBackward0"
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]


def test_tangents_and_batches() -> None:
    x, tangent = X[:-1], torch.arange(6.0)

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return torch.fake_quantize_per_tensor_affine(x, 0.1, 2, 0, 10)

    assert torch.func.jvp(rounded, (x,), (tangent,))[1].tolist() == [0.0, 0.0, 2.0, 3.0, 4.0, 0.0]
    assert torch.equal(torch.vmap(rounded)(x.reshape(2, 3)), rounded(x).reshape(2, 3))


def test_a_scale_for_each_channel() -> None:
    weight = torch.arange(6.0).reshape(2, 3).requires_grad_()
    scale, zero_point = torch.tensor([0.5, 1.0]), torch.tensor([0, 1], dtype=INT32)
    y = torch.fake_quantize_per_channel_affine(weight, scale, zero_point, 0, 0, 4)
    assert y.tolist() == [[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]]
    y.sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    floating = torch.fake_quantize_per_channel_affine(weight, scale, torch.tensor([0, 0.5]), 0, 0, 4)
    assert floating.tolist() == [[0.0, 1.0, 2.0], [3.5, 3.5, 3.5]]


def test_zero_points_that_are_no_integers() -> None:
    """They are added before rounding, and cut to integers where there is one for the whole tensor."""
    x = torch.tensor([[0.25, 0.75, 1.25], [0.26, -0.2, 0.1]], requires_grad=True)
    y = torch.fake_quantize_per_channel_affine(x, torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.3]), 0, -2, 2)
    assert torch.allclose(y, torch.tensor([[0.5, 0.5, 0.5], [0.175, -0.075, 0.175]]))
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    whole = torch.fake_quantize_per_tensor_affine(x[0].detach(), torch.tensor(0.5), torch.tensor(1.7), -8, 7)
    assert whole.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: torch.fake_quantize_per_tensor_affine(X.long(), 0.1, 2, 0, 10), NotImplementedError, "Long"),
        (lambda: torch.fake_quantize_per_tensor_affine(X, 0.1, 2, 10, 0), RuntimeError, "less than or"),
        (lambda: torch.fake_quantize_per_tensor_affine(X, 0.1, 20, 0, 10), RuntimeError, "must be between"),
        (
            lambda: torch.fake_quantize_per_channel_affine(X, torch.ones(2), torch.zeros(2, dtype=INT32), 0, 0, 9),
            RuntimeError,
            "not consistent",
        ),
        (
            lambda: torch.fake_quantize_per_channel_affine(X, torch.ones(7), torch.zeros(7).long(), 0, 0, 9),
            RuntimeError,
            "Int32, Float or Half, found Long",
        ),
        (
            lambda: torch.fake_quantize_per_channel_affine(X, torch.ones(7), torch.zeros(7, dtype=INT32), 5, 0, 9),
            IndexError,
            "out of range",
        ),
    ],
)
def test_mistakes(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


SEEN = torch.tensor([[-1.0, 0.5, 2.0], [-0.25, 0.0, 0.75]])


@pytest.mark.parametrize(
    ("observer", "scale", "zero_point"),
    [
        (observers.MinMaxObserver(), [6 / 255], [85]),
        (observers.MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric), [4 / 127.5], [0]),
        (observers.MinMaxObserver(dtype=torch.quint8, qscheme=torch.per_tensor_symmetric), [4 / 127.5], [128]),
        (observers.MinMaxObserver(reduce_range=True), [6 / 127], [42]),
        (observers.PerChannelMinMaxObserver(), [6 / 255, 2 / 255], [85, 64]),
        (observers.MovingAverageMinMaxObserver(), [3.03 / 255], [85]),
        (
            observers.MovingAveragePerChannelMinMaxObserver(dtype=torch.qint8, qscheme=torch.per_channel_symmetric),
            [2.02 / 127.5, 0.7575 / 127.5],
            [0, 0],
        ),
    ],
)
def test_observers(observer: Any, scale: list[float], zero_point: list[int]) -> None:
    with pytest.warns(UserWarning, match="must run observer"):
        assert observer.calculate_qparams()[0].tolist() == [1.0]
    assert observer(SEEN) is SEEN
    observer(SEEN * 2)
    found, zero = observer.calculate_qparams()
    assert found.tolist() == pytest.approx(scale)
    assert zero.tolist() == zero_point
    again = type(observer)(qscheme=observer.qscheme, dtype=observer.dtype, reduce_range=observer.reduce_range)
    again.load_state_dict(observer.state_dict())
    assert torch.equal(again.calculate_qparams()[0], found)


def test_a_module_rounds_and_learns() -> None:
    layer = quantization.default_per_channel_weight_fake_quant()
    weight = SEEN.clone().requires_grad_()
    rounded = layer(weight)
    assert (rounded - weight).abs().max().item() <= 2 / 127.5 / 2 + 1e-6
    rounded.sum().backward()
    assert weight.grad is not None
    assert weight.grad.sum().item() == 5.0  # 2 / scale is 127.5, beyond 127
    layer.apply(quantization.disable_observer)
    scale = layer.scale.clone()
    layer(weight * 10)
    assert torch.equal(layer.scale, scale)
    layer.apply(quantization.disable_fake_quant)
    assert layer(weight) is weight
    other = quantization.default_per_channel_weight_fake_quant()
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other.scale, scale)


def test_names_that_programs_import() -> None:
    from torch.quantization.observer import HistogramObserver, MinMaxObserver

    assert MinMaxObserver is observers.MinMaxObserver
    with pytest.raises(NotImplementedError):
        HistogramObserver()
    config = quantization.QConfig(activation=observers.default_observer, weight=observers.default_weight_observer)
    assert config.weight().dtype == torch.qint8
    with pytest.raises(ValueError, match="classes of observers"):
        quantization.QConfig(MinMaxObserver(), MinMaxObserver)
    with pytest.raises(NotImplementedError):
        quantization.prepare_qat(torch.nn.Linear(1, 1))
