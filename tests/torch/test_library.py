"""Operators that programs define: torch.library and torch.ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

import torch
from torch import library

X = torch.tensor([1.0, 2.0])


@library.custom_op("tests::sine", mutates_args=())
def sine(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """Computed where torch does not look."""
    return torch.from_numpy(numpy.sin(x.detach().numpy() * scale))


@sine.register_fake
def _(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    return torch.empty_like(x)


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    x, ctx.scale = inputs
    ctx.save_for_backward(x)


def _backward(ctx: Any, gradient: Any) -> Any:
    (x,) = ctx.saved_tensors
    return gradient * (x * ctx.scale).cos() * ctx.scale, None


sine.register_autograd(_backward, setup_context=_keep)


def test_custom_operators() -> None:
    assert torch.allclose(sine(X), X.sin())
    assert torch.allclose(torch.ops.tests.sine(X, scale=2.0), (X * 2).sin())
    assert torch.ops.tests.sine.default(X).shape == (2,)
    assert torch.ops.tests.sine(torch.empty(3, device="meta")).is_meta
    x = X.clone().requires_grad_()
    sine(x, 2.0).sum().backward()
    assert torch.allclose(x.grad, 2 * (X * 2).cos())
    assert str(sine._opoverload._schema).endswith("(Tensor x, float scale=1.) -> Tensor")
    assert "sine" in dir(torch.ops.tests)
    assert torch.autograd.gradcheck(sine, (X.double().requires_grad_(), 0.5))


def test_without_a_formula() -> None:
    plain = library.custom_op("tests::plain", lambda x: x * 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    result = plain(X.clone().requires_grad_())
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        result.sum().backward()


def test_operators_that_write() -> None:
    @library.custom_op("tests::fill", mutates_args={"x"})
    def fill(x: torch.Tensor, value: float) -> None:
        x.fill_(value)

    assert fill._schema == "(Tensor(a0!) x, float value) -> ()"
    x = torch.zeros(2)
    fill(x, 3.0)
    assert x.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="non-functional operator"):
        fill.register_autograd(lambda ctx, gradient: None)


def test_libraries() -> None:
    lib = library.Library("tests_library", "DEF")
    assert lib.define("add_scaled(Tensor x, Tensor y, *, float scale=2.0) -> Tensor") == "add_scaled"
    lib.impl("add_scaled", lambda x, y, *, scale=2.0: x + y * scale, "CPU")
    library.register_fake("tests_library::add_scaled", lambda x, y, *, scale=2.0: torch.empty_like(x))
    assert torch.ops.tests_library.add_scaled(X, X).tolist() == [3.0, 6.0]
    assert torch.ops.tests_library.add_scaled(X, y=X, scale=1.0).tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match="missing value for argument 'y'"):
        torch.ops.tests_library.add_scaled(X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        torch.ops.tests_library.add_scaled(X, X, z=1)
    with pytest.raises(RuntimeError, match="with the same name multiple times"):
        lib.define("add_scaled(Tensor x) -> Tensor")
    lib._destroy()
    with pytest.raises(AttributeError, match="has no attribute 'add_scaled'"):
        _ = torch.ops.tests_library.add_scaled
    library.define("tests_library::double", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="no kernel"):
        torch.ops.tests_library.double(X)

    @library.impl("tests_library::double", "cpu")
    def double(x: Any) -> Any:
        return x * 2

    assert torch.ops.tests_library.double(X).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="namespace::name"):
        library.define("nothing", "(Tensor x) -> Tensor")
    with pytest.raises(OSError, match="cannot be loaded here"):
        torch.ops.load_library("nothing.so")


def test_torchs_own_operators() -> None:
    assert torch.ops.aten.add(X, X).tolist() == [2.0, 4.0]
    assert torch.ops.aten.add.Tensor(X, X).tolist() == [2.0, 4.0]
    assert torch.ops.aten.relu.default(-X).tolist() == [0.0, 0.0]
    assert torch.equal(torch.ops.aten._softmax(X, 0, False), X.softmax(0))
    assert torch.equal(torch.ops.aten._unsafe_view(X, [2, 1]), X[:, None])
    assert torch.ops.aten.slice(X, 0, 1, 2).tolist() == [2.0]
    assert torch.ops.aten.index(X, [torch.tensor([1])]).tolist() == [2.0]
    assert torch.ops.aten.sym_size(X, 0) == torch.ops.aten.sym_size.int(X, 0) == torch.ops.aten.sym_numel(X) == 2
    assert torch.ops.aten.copy(X, X.int() * 2).tolist() == [2.0, 4.0]
    with pytest.raises(NotImplementedError, match=r"has no operator torch.ops.aten.nothing"):
        torch.ops.aten.nothing.default(X)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [([1], [0], [1], 1), ([2, 3], [1, 0], [1, 2], 2), ([3], [2], [2], 2)]
)
def test_gradients_of_a_convolution(
    transposed: bool, dtype: torch.dtype, stride: list[int], padding: list[int], dilation: list[int], groups: int
) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 4, 9, 10, dtype=dtype, requires_grad=True)
    weight = torch.randn(4, 4 // groups, 2, 3, dtype=dtype, requires_grad=True)
    bias = torch.randn(4, dtype=dtype, requires_grad=True)
    ends = [1 if transposed and stride != [1] else 0]
    both = [sizes * (3 - len(sizes)) for sizes in (stride, padding, dilation)]
    result = torch.convolution(x, weight, bias, *both, transposed, ends * 2, groups)
    grad = torch.randn_like(result)
    options = (stride, padding, dilation, transposed, ends, groups)
    found = torch.ops.aten.convolution_backward(grad, x, weight, [4], *options, [True, True, True])
    for one, expected in zip(found, torch.autograd.grad(result, (x, weight, bias), grad), strict=True):
        torch.testing.assert_close(one, expected)
    assert torch.ops.aten.convolution_backward.default(grad, x, weight, None, *options, [False] * 3) == (None,) * 3


def test_schemas() -> None:
    def function(
        x: torch.Tensor, items: Sequence[torch.Tensor], n: int = 3, name: str = "a", *, y: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]: ...

    namespace = {"Sequence": Sequence, "torch": torch}
    function.__globals__.update(namespace)
    assert library.infer_schema(function, mutates_args=("x",)) == (
        '(Tensor(a0!) x, Tensor[] items, SymInt n=3, str name="a", *, Tensor? y=None) -> (Tensor, Tensor)'
    )


def test_flex_attention() -> None:
    from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, create_mask, flex_attention

    def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
        return q >= k

    q, k, v = (torch.randn(1, 2, 8, 4) for _ in range(3))
    mask = create_block_mask(causal, None, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(flex_attention(q, k, v, block_mask=mask), expected, atol=1e-6)
    assert create_mask(causal, 1, 1, 2, 2).tolist() == [[[[True, False], [True, True]]]]
    assert mask.to_dense().tolist() == [[[[1, 0], [1, 1]]]]
    moved, more = flex_attention(
        q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1, return_aux=AuxRequest(lse=True)
    )
    scores = q @ k.transpose(-1, -2) / 2 + (torch.arange(8)[:, None] - torch.arange(8)) * 0.1
    assert torch.allclose(moved, scores.softmax(-1) @ v, atol=1e-6)
    assert torch.allclose(more.lse, scores.logsumexp(-1), atol=1e-6)


def test_kernels_may_come_before_their_operator() -> None:
    x = torch.tensor([1, 2])
    library.impl("tests::early", ["CPU"])(lambda x: x + 1)
    early = library.Library("tests", "IMPL")
    early.impl("early", lambda x: torch.empty_like(x), "Meta")
    library.define("tests::early", "(Tensor x) -> Tensor")
    assert torch.ops.tests.early(x).tolist() == [2, 3]
    assert torch.ops.tests.early(x.to("meta")).is_meta
    with pytest.raises(RuntimeError, match="operator aten::not_there does not exist"):
        library.impl("aten::not_there", "CPU")(lambda x: x)


def test_schemas_of_numbers_that_may_be_left_out() -> None:
    def scaled(x: torch.Tensor, low: int | float | bool | None = None, sizes: list[int] | None = None) -> torch.Tensor:
        return x

    expected = "(Tensor x, Scalar? low=None, SymInt[]? sizes=None) -> Tensor"
    assert library.infer_schema(scaled, mutates_args=()) == expected

    def odd(x: torch.Tensor, low: int | str | None = None) -> torch.Tensor:
        return x

    with pytest.raises(ValueError, match="unsupported type"):
        library.infer_schema(odd, mutates_args=())
