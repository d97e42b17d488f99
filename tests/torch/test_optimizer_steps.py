"""Steps of Adam and SGD in one pass over a parameter give the bits that the operators give one after the other."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import Tensor
from torch.optim import SGD, Adam, AdamW

ADAMS: list[dict[str, Any]] = [
    {},
    {"amsgrad": True, "weight_decay": 0.1},
    {"maximize": True, "betas": (0.3, 0.5), "eps": 1e-3},
]
SGDS: list[dict[str, Any]] = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    {"momentum": 0.5, "dampening": 0.2, "maximize": True},
]
CASES = [(kind, options) for kind in (Adam, AdamW) for options in ADAMS] + [(SGD, options) for options in SGDS]


def _gradients(shape: tuple[int, ...], dtype: torch.dtype, count: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for _ in range(count)]


def _train(kind: Any, parameter: Tensor, gradients: list[Tensor], **options: Any) -> list[Tensor]:
    """The parameter and its state after so many steps."""
    parameter = torch.nn.Parameter(parameter)
    optimizer = kind([parameter], lr=0.1, **options)
    for gradient in gradients:
        parameter.grad = gradient
        optimizer.step()
    state = optimizer.state[parameter]
    return [parameter.detach(), *(value for _, value in sorted(state.items()) if isinstance(value, Tensor))]


def _apart(tensor: Tensor) -> Tensor:
    """The same numbers, which no pass over memory finds beside those of a dense tensor."""
    return torch.stack([tensor, tensor], -1)[..., 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_bits_are_those_of_the_operators(kind: Any, options: dict[str, Any], dtype: torch.dtype) -> None:
    for shape in [(1,), (15,), (16,), (33,), (7, 11), (1, 0)]:
        start, *gradients = _gradients(shape, dtype, 4)
        one_pass = _train(kind, start.clone(), gradients, **options)
        expected = _train(kind, start.clone(), [_apart(gradient) for gradient in gradients], **options)
        assert len(one_pass) == len(expected)
        for mine, other in zip(one_pass, expected, strict=True):
            assert torch.equal(mine, other)


def test_transposed_parameters_and_large_ones() -> None:
    start, *gradients = _gradients((300, 301), torch.float32, 3)
    one_pass = _train(Adam, start.clone().T, [gradient.clone().T for gradient in gradients])
    assert one_pass[0].stride() == (1, 301)
    for mine, other in zip(one_pass, _train(Adam, start.clone(), gradients), strict=True):
        assert torch.equal(mine.T if mine.dim() else mine, other)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", [Adam, SGD])
def test_halves_are_rounded_once_only_where_fused(kind: Any, dtype: torch.dtype) -> None:
    options = {"momentum": 0.9} if kind is SGD else {}
    for count in (5, 16, 37):
        start, gradient, *_ = _gradients((count,), dtype, 2)
        fused = _train(kind, start.clone(), [gradient, gradient], fused=True, **options)
        plain = _train(kind, start.clone(), [gradient, gradient], **options)
        apart = _train(kind, start.clone(), [_apart(gradient)] * 2, **options)
        wide = _train(kind, start.float(), [gradient.float()] * 2, **options)
        assert all(torch.equal(mine, other) for mine, other in zip(plain, apart, strict=True))
        torch.testing.assert_close(fused[0].float(), wide[0], rtol=2**-7, atol=2**-7)


def test_largest_squares_keep_nan_and_writes_are_counted() -> None:
    parameter = torch.nn.Parameter(torch.zeros(17))
    optimizer = Adam([parameter], amsgrad=True)
    version = parameter._version
    for value in (1.0, float("nan"), 1.0):
        parameter.grad = torch.zeros(17)
        parameter.grad[3] = value
        optimizer.step()
    assert optimizer.state[parameter]["max_exp_avg_sq"].isnan().tolist() == [place == 3 for place in range(17)]
    assert optimizer.state[parameter]["step"].item() == 3
    assert parameter._version > version
    assert parameter.isnan().sum() == 1
