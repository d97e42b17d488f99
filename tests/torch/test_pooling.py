"""Pooling of images in any layout, with any threads: the same values, places and gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

import torch
from torch.nn import functional

Pool = Callable[[torch.Tensor], torch.Tensor]
POOLS: dict[str, Pool] = {
    "maxima": lambda x: functional.max_pool2d(x, 2),
    "maxima, steps and padding": lambda x: functional.max_pool2d(x, 3, 2, 1),
    "maxima, three steps": lambda x: functional.max_pool2d(x, 2, 3),
    "maxima, dilated": lambda x: functional.max_pool2d(x, (2, 3), 1, 1, (3, 1)),
    "maxima, rounded up": lambda x: functional.max_pool2d(x, 3, 2, 0, ceil_mode=True),
    "maxima, adaptive": lambda x: functional.adaptive_max_pool2d(x, (3, 4)),
    "averages": lambda x: functional.avg_pool2d(x, 2),
    "averages, overlapping": lambda x: functional.avg_pool2d(x, 3, 1, 1),
    "averages, padding not counted": lambda x: functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "averages, rounded up": lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "averages, divided by 5": lambda x: functional.avg_pool2d(x, (2, 3), divisor_override=5),
    "averages, adaptive": lambda x: functional.adaptive_avg_pool2d(x, (3, 4)),
    "averages, more windows than elements": lambda x: functional.adaptive_avg_pool2d(x, (13, 20)),
    "one average": lambda x: functional.adaptive_avg_pool2d(x, 1),
}


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize(
    "size", [(2, 5, 11, 17), (1, 70, 9, 8), (2, 16, 40, 33), (3, 1, 6, 7), (1, 3, 8, 9), (1, 8, 7, 9)]
)
def test_channels_last(name: str, size: tuple[int, ...]) -> None:
    """Against the loop over planes that a tensor of one channel takes."""
    image = torch.randn(size, dtype=torch.float64)
    plain = image.clone().requires_grad_()
    last = image.to(memory_format=torch.channels_last).requires_grad_()
    expected = torch.cat([POOLS[name](plain[:, channel : channel + 1]) for channel in range(size[1])], 1)
    found = [POOLS[name](plain), POOLS[name](last)]
    slopes = torch.randn_like(expected)
    (wanted,) = torch.autograd.grad(expected, plain, slopes)
    for result, leaf in zip(found, (plain, last), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(torch.autograd.grad(result, leaf, slopes)[0], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.int64])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("channels", [3, 6, 19])
def test_places_of_maxima(
    dtype: torch.dtype, kernel: tuple[int, int], layout: torch.memory_format, channels: int
) -> None:
    """The first of equal ones, or the last NaN."""
    height, width = 12, 24
    image = torch.randint(0, 4, (2, channels, height, width)).to(dtype)
    if dtype.is_floating_point:
        image.masked_fill_(torch.rand(image.shape) < 0.1, float("nan"))
        image[0, :, :6] = -float("inf")
    places = functional.max_pool2d(image.to(memory_format=layout), kernel, 2, return_indices=True)[1]
    windows = image.unfold(2, kernel[0], 2).unfold(3, kernel[1], 2).flatten(4)
    for index in itertools.product(range(2), (0, channels - 1), range(places.shape[2]), range(places.shape[3])):
        window = windows[index]
        nans = window.isnan().nonzero().flatten()
        best = int(nans[-1]) if nans.numel() else int((window == window.max()).nonzero()[0])
        y, x = divmod(best, kernel[1])
        assert int(places[index]) == (2 * index[2] + y) * width + 2 * index[3] + x


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_windows_at_random(dimensions: int, dtype: torch.dtype) -> None:
    """Each window is one of `max_pool`, somewhere; the last NaN wins; what is written where is asked for."""
    torch.manual_seed(0)
    sizes = (9, 11, 7)[:dimensions]
    image = torch.randn(2, 3, *sizes).to(dtype)
    image.view(2, 3, -1)[0, 1, 5:8] = float("nan")
    pool = getattr(functional, f"fractional_max_pool{dimensions}d")
    samples = torch.rand(2, 3, dimensions).to(dtype)
    values, places = pool(image, 2, output_size=(4, 5, 3)[:dimensions], return_indices=True, _random_samples=samples)
    assert values.dtype == dtype
    assert torch.equal(
        image.flatten(2).gather(2, places.flatten(2)).view_as(values).nan_to_num(9), values.nan_to_num(9)
    )
    every = getattr(functional, f"max_pool{dimensions}d")(image, 2, 1, return_indices=True)[1].flatten(2)
    assert (places.flatten(2).unsqueeze(3) == every.unsqueeze(2)).any(3).all()
    corner = image[(..., *[slice(-2, None)] * dimensions)].flatten(2).amax(2)
    one = pool(image, 2, output_size=1, _random_samples=samples)
    assert torch.equal(one.view_as(corner).nan_to_num(9), corner.nan_to_num(9))


def test_windows_at_random_fit() -> None:
    image = torch.randn(1, 1, 4, 4)
    with pytest.raises(RuntimeError, match="pool height 3 too large relative to input height 4"):
        functional.fractional_max_pool2d(image, 3, output_size=3)
    with pytest.raises(RuntimeError, match="random_samples must be 2 numbers for each plane"):
        torch._C._nn.fractional_max_pool2d(image, 2, 2, torch.rand(1, 1, 3))
    far = torch.tensor([[[float("inf"), float("nan")]]])  # no numbers in [0, 1): windows stay inside
    assert functional.fractional_max_pool2d(image, 2, output_size=2, _random_samples=far).shape == (1, 1, 2, 2)
