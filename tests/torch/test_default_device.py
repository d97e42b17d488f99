"""Where new tensors go: `with torch.device(...)`, torch.set_default_device."""

from __future__ import annotations

import threading
from collections.abc import Iterator  # noqa: TC003 - pytest reads it

import pytest

import torch

FACTORIES = (
    "empty(2)",
    "zeros(2)",
    "ones((2, 3))",
    "full((2,), 1.5)",
    "rand(2)",
    "randn(2)",
    "randint(3, (2,))",
    "randperm(4)",
    "arange(3)",
    "linspace(0, 1, 3)",
    "logspace(0, 1, 3)",
    "eye(2)",
    "tensor([1, 2])",
    "as_tensor([1.0])",
    "as_tensor(torch.ones(2, device='cpu'))",
    "asarray([1.0])",
    "scalar_tensor(2)",
    "empty_strided((2, 2), (1, 2))",
    "hann_window(4)",
    "tril_indices(2, 2)",
    "fft.fftfreq(4)",
    "nn.Linear(2, 3).weight",
    "zeros(2, requires_grad=True)",
)


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    yield
    torch.set_default_device(None)


@pytest.mark.parametrize("text", FACTORIES)
def test_factories_follow(text: str) -> None:
    assert eval(f"torch.{text}").device.type == "cpu"
    with torch.device("meta"):
        assert eval(f"torch.{text}").device.type == "meta"
    assert eval(f"torch.{text}").device.type == "cpu"


def test_what_is_named_or_like_another_stays() -> None:
    x = torch.ones(2)
    with torch.device("meta"):
        for made in (
            torch.zeros(2, device="cpu"),
            torch.zeros_like(x),
            x.new_zeros(2),
            x + 1,
            torch.from_numpy(x.numpy()),
        ):
            assert made.device.type == "cpu"


def test_blocks_nest() -> None:
    with torch.device("meta") as entered:
        assert entered == torch.device("meta") == torch.get_default_device()
        with torch.device("cpu"):
            assert torch.get_default_device() == torch.device("cpu")
            with pytest.raises(ValueError, match="stop"), torch.device("meta"):
                raise ValueError("stop")
            assert torch.zeros(1).device.type == "cpu"
        assert torch.zeros(1).is_meta
    assert torch.get_default_device() == torch.device("cpu")


def test_decorator() -> None:
    @torch.device("meta")
    def make(size: int) -> torch.Tensor:
        """Makes."""
        return torch.zeros(size)

    assert (make(3).is_meta, make.__name__, make.__doc__) == (True, "make", "Makes.")
    assert not torch.zeros(1).is_meta


def test_set_default_device() -> None:
    torch.set_default_device("meta")
    assert (torch.zeros(1).is_meta, torch.get_default_device()) == (True, torch.device("meta"))
    with torch.device("cpu"):
        assert not torch.zeros(1).is_meta
    torch.set_default_device(torch.device("cpu"))
    assert not torch.zeros(1).is_meta
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.set_default_device("nowhere")


def test_threads_have_their_own() -> None:
    seen = []
    torch.set_default_device("meta")
    thread = threading.Thread(target=lambda: seen.append(torch.zeros(1).device.type))
    thread.start()
    thread.join()
    assert seen == ["cpu"]
