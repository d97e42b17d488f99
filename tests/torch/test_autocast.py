"""Autocast on the CPU: which operators compute in which dtype, as PyTorch's lists have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

X = torch.linspace(-1, 1, 16).reshape(4, 4)
H = X.bfloat16()
CLASSES = torch.tensor([0, 1, 2, 3])
LOWER: dict[str, Callable[[], Any]] = {
    "matmul": lambda: X @ X,
    "mm": lambda: X.mm(X),
    "bmm": lambda: torch.bmm(X[None], X[None]),
    "addmm": lambda: torch.addmm(X, X, X),
    "linear": lambda: functional.linear(X, X),
    "einsum": lambda: torch.einsum("ij,jk->ik", X, X),
    "conv1d": lambda: functional.conv1d(X[None], X[:, :, None]),
    "attention": lambda: functional.scaled_dot_product_attention(X[None], X[None], X[None]),
    "module": lambda: torch.nn.Linear(4, 2)(X),
}
SINGLE: dict[str, Callable[[], Any]] = {
    "mse_loss": lambda: functional.mse_loss(H, H),
    "l1_loss": lambda: functional.l1_loss(H, H),
    "cross_entropy": lambda: functional.cross_entropy(H, CLASSES),
    "nll_loss": lambda: functional.nll_loss(H, CLASSES),
    "kl_div": lambda: functional.kl_div(H, H, reduction="sum"),
    "binary_cross_entropy_with_logits": lambda: functional.binary_cross_entropy_with_logits(H, H),
    "hinge_embedding_loss": lambda: functional.hinge_embedding_loss(H, H),
    "prod": lambda: H.prod(),
    "trace": lambda: H.trace(),
    "cdist": lambda: torch.cdist(H, H),
    "cat": lambda: torch.cat([H, X]),
    "stack": lambda: torch.stack([X, H]),
    "add": lambda: X + H,
    "mv": lambda: X.mv(X[0]),
}
KEPT: dict[str, Callable[[], Any]] = {
    "softmax": lambda: functional.softmax(H, -1),
    "layer_norm": lambda: functional.layer_norm(H, (4,)),
    "gelu": lambda: functional.gelu(H),
    "exp": lambda: H.exp(),
    "sum": lambda: H.sum(),
    "cat": lambda: torch.cat([H, H]),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", LOWER)
def test_computed_in_fewer_bits(name: str, dtype: torch.dtype) -> None:
    with torch.autocast("cpu", dtype=dtype):
        assert LOWER[name]().dtype is dtype
    assert LOWER[name]().dtype is torch.float32


@pytest.mark.parametrize("name", SINGLE)
def test_computed_in_float32(name: str) -> None:
    with torch.autocast("cpu"):
        assert SINGLE[name]().dtype is torch.float32


@pytest.mark.parametrize("name", KEPT)
def test_computed_in_what_it_gets(name: str) -> None:
    with torch.autocast("cpu"):
        assert KEPT[name]().dtype is torch.bfloat16


def test_values_and_other_dtypes() -> None:
    with torch.autocast("cpu"):
        assert torch.equal(X @ X, H @ H)
        assert (X.double() @ X.double()).dtype is torch.float64
        assert (CLASSES @ CLASSES).dtype is torch.int64


def test_blocks_nest_and_end() -> None:
    assert not torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu", dtype=torch.float16):
        assert torch.is_autocast_enabled("cpu")
        assert torch.is_autocast_cpu_enabled()
        assert torch.get_autocast_dtype("cpu") is torch.float16
        with torch.autocast("cpu", enabled=False):
            assert (X @ X).dtype is torch.float32
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (X @ X).dtype is torch.bfloat16
        assert (X @ X).dtype is torch.float16
        with pytest.raises(RuntimeError, match="mat1 and mat2"), torch.autocast("cpu"):
            X.mm(X[:2])
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16
    assert (X @ X).dtype is torch.float32


def test_results_that_are_given_are_written() -> None:
    given = torch.empty(4, 4)
    with torch.autocast("cpu"):
        assert torch.mm(X, X, out=given) is given
        assert torch.einsum("ij,jk->ik", X, X).dtype is torch.bfloat16
    assert torch.equal(given, X.mm(X))


def test_blocks_within_blocks_convert_parameters_anew() -> None:
    weight = torch.ones(4, 4, requires_grad=True)
    with torch.autocast("cpu"):
        assert (X @ weight).dtype is torch.bfloat16
        with torch.autocast("cpu", dtype=torch.float16):
            assert (X @ weight).dtype is torch.float16
        assert (X @ weight).dtype is torch.bfloat16


def test_state_of_devices() -> None:
    assert torch.get_autocast_gpu_dtype() is torch.float16
    torch.set_autocast_gpu_dtype(torch.bfloat16)
    assert torch.get_autocast_dtype("cuda") is torch.bfloat16
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16
    torch.set_autocast_dtype("cuda", torch.float16)
    torch.set_autocast_enabled("cuda", True)
    assert torch.is_autocast_enabled()
    assert not torch.is_autocast_enabled("cpu")
    assert (X @ X).dtype is torch.float32
    torch.set_autocast_enabled(False)
    assert not torch.is_autocast_enabled("cuda")
    with pytest.raises(RuntimeError, match="unsupported device type for autocast"):
        torch.set_autocast_dtype("meta", torch.float16)


def test_as_a_decorator() -> None:
    @torch.autocast("cpu")
    def product(x: Any) -> Any:
        return x @ x

    assert product(X).dtype is torch.bfloat16
    assert (X @ X).dtype is torch.float32


def test_gradients_come_in_the_dtype_of_the_parameter() -> None:
    layer = torch.nn.Linear(4, 2)
    with torch.autocast("cpu"):
        loss = functional.mse_loss(layer(X), torch.zeros(4, 2))
    assert loss.dtype is torch.float32
    loss.backward()
    assert layer.weight.grad.dtype is torch.float32
    reference = torch.nn.functional.mse_loss(layer(X), torch.zeros(4, 2))
    (expected,) = torch.autograd.grad(reference, [layer.weight])
    assert torch.allclose(layer.weight.grad, expected, rtol=0.05, atol=0.01)


def test_parameters_are_converted_once() -> None:
    weight = torch.ones(4, 4, requires_grad=True)
    with torch.autocast("cpu"):
        one, two = X @ weight, X @ weight
        nodes = [out.grad_fn.next_functions[1][0] for out in (one, two)]
        assert nodes[0] is nodes[1]
        with torch.no_grad():
            weight.fill_(2.0)
        assert torch.equal(X @ weight, one)  # as in PyTorch: until the block ends
    with torch.autocast("cpu"):
        assert torch.equal(X @ weight, one * 2)
    with torch.autocast("cpu", cache_enabled=False):
        nodes = [(X @ weight).grad_fn.next_functions[1][0] for _ in range(2)]
        assert nodes[0] is not nodes[1]


def test_functions_with_decorators() -> None:
    seen: list[Any] = []

    class Cast(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(torch.is_autocast_enabled("cpu"))
            return grad * 2

    class Same(Cast):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
            return x * 2

    x = H.clone().requires_grad_()
    for function in (Cast, Same):
        with torch.autocast("cpu"):
            out = function.apply(x)
        out.sum().backward()
    assert seen == [(torch.float32, False), False, (torch.bfloat16, True), True]


def test_what_is_not_supported() -> None:
    with pytest.warns(UserWarning, match="Disabling autocast"), torch.autocast("cpu", dtype=torch.float32):
        assert (X @ X).dtype is torch.float32
    with pytest.raises(ValueError, match="device_type"):
        torch.autocast(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'meta'"):
        torch.autocast("meta")
