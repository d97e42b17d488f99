"""What vs_pytorch.py measures: each case by name, and what its time is told by. A process of each torch runs this file.

A section is a function of `torch` that yields cases: a name, and a function that prepares and returns what is timed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import resource
import sys
import time
import warnings
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], object]
    Case = tuple[str, Callable[[], Work]]

UNARY = "abs exp expm1 exp2 log log1p log2 log10 sin cos tan tanh sigmoid erf erfc sqrt rsqrt reciprocal round sign"
ACTIVATIONS = (
    "relu silu softplus mish hardswish hardsigmoid logsigmoid gelu elu selu leaky_relu hardtanh relu6 celu tanhshrink"
)
SIZES = {"small": (32, 32), "medium": (256, 256), "large": (1024, 1024)}


def calls(torch: Any) -> Iterator[Case]:
    """What is so small that its time is that of the call."""
    a, b, m = torch.ones(4), torch.ones(4), torch.ones(4, 4)
    r, out, index = torch.ones(4, requires_grad=True), torch.empty(4), torch.tensor([2, 0])
    layer, norm = torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)
    functional = torch.nn.functional
    works: dict[str, Work] = {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2,
        "add(a, b, out=)": lambda: torch.add(a, b, out=out),
        "a.add_(b)": lambda: a.add_(b),
        "a < b": lambda: a < b,
        "a[1]": lambda: a[1],
        "m[:, 1:3]": lambda: m[:, 1:3],
        "a[index]": lambda: a[index],
        "a.sum()": lambda: a.sum(),
        "a.item()": lambda: a[0].item(),
        "m @ m": lambda: m @ m,
        "m.t()": lambda: m.t(),
        "m.view(16)": lambda: m.view(16),
        "m.reshape(2, 8)": lambda: m.reshape(2, 8),
        "cat": lambda: torch.cat((a, b)),
        "stack": lambda: torch.stack((a, b)),
        "zeros": lambda: torch.zeros(4),
        "empty": lambda: torch.empty(4),
        "tensor([1, 2, 3])": lambda: torch.tensor([1, 2, 3]),
        "randn": lambda: torch.randn(4),
        "to(float64)": lambda: a.to(torch.float64),
        "exp": lambda: torch.exp(a),
        "softmax": lambda: torch.softmax(m, 1),
        "layer_norm": lambda: functional.layer_norm(m, (4,)),
        "LayerNorm(m)": lambda: norm(m),
        "Linear(m)": lambda: layer(m),
        "r + b, recorded": lambda: r + b,
        "(r * b).sum().backward()": lambda: (r * b).sum().backward(),
    }
    for name, work in works.items():
        yield name, partial(_as_is, work)


def _as_is(work: Work) -> Work:
    return work


def kernels(torch: Any) -> Iterator[Case]:
    """Functions of one tensor: three sizes, three layouts, four types; and moves, sums and choices of elements."""
    functions = _functions(torch)
    variants = [(size, "contiguous", "float32") for size in SIZES]
    variants += [("large", layout, "float32") for layout in ("transposed", "strided")]
    variants += [("large", "contiguous", dtype) for dtype in ("float64", "bfloat16", "float16")]
    for size, layout, dtype in variants:
        words = [size, *([layout] if layout != "contiguous" else []), *([dtype] if dtype != "float32" else [])]
        for name, function in functions.items():
            yield f"{name}, {' '.join(words)}", partial(_kernel, torch, function, SIZES[size], layout, dtype)


def _kernel(torch: Any, function: Any, shape: tuple[int, int], layout: str, dtype: str) -> Work:
    torch.manual_seed(0)
    rows, columns = shape
    # What is timed takes positive numbers, so that no function meets what it is not defined for.
    x = torch.rand(
        (columns, rows) if layout == "transposed" else (rows, 2 * columns if layout == "strided" else columns)
    )
    x = (x * 3 + 0.05).to(getattr(torch, dtype))
    if layout == "transposed":
        x = x.t()
    elif layout == "strided":
        x = x[:, ::2]
    work: Work = function(x)
    return work


def _functions(torch: Any) -> dict[str, Callable[[Any], Work]]:
    """By name: what makes of a matrix the work on it."""
    functional = torch.nn.functional

    def plain(function: Any, *arguments: Any, **options: Any) -> Callable[[Any], Work]:
        return lambda x: lambda: function(x, *arguments, **options)

    def both(function: Any) -> Callable[[Any], Work]:
        def prepare(x: Any) -> Work:
            y = x.flip(0)
            return lambda: function(x, y)

        return prepare

    def indexed(function: Any) -> Callable[[Any], Work]:
        def prepare(x: Any) -> Work:
            index = torch.randint(x.size(0), x.shape)
            return lambda: function(x, index)

        return prepare

    def filled(method: str, *arguments: Any) -> Callable[[Any], Work]:
        def prepare(x: Any) -> Work:
            y = torch.empty_like(x)
            return lambda: getattr(y, method)(*arguments)

        return prepare

    found = {name: plain(getattr(torch, name)) for name in UNARY.split()}
    found |= {name: plain(getattr(functional, name)) for name in ACTIVATIONS.split()}
    found |= {
        "gelu tanh": plain(functional.gelu, approximate="tanh"),
        "x + y": both(torch.add),
        "x * y": both(torch.mul),
        "x / y": both(torch.div),
        "x ** y": both(torch.pow),
        "x ** 2": plain(torch.pow, 2),
        "x ** 2.7": plain(torch.pow, 2.7),
        "atan2": both(torch.atan2),
        "maximum": both(torch.maximum),
        "remainder": plain(torch.remainder, 0.7),
        "x < y": both(torch.lt),
        "x == 1": plain(torch.eq, 1),
        "isnan": plain(torch.isnan),
        "lerp": lambda x: lambda: torch.lerp(x, x, 0.3),
        "addcmul": lambda x: lambda: torch.addcmul(x, x, x),
        "where": lambda x: (lambda chosen: lambda: torch.where(chosen, x, x))(x > 1),
        "masked_fill": lambda x: (lambda chosen: lambda: x.masked_fill(chosen, 0))(x > 1),
        "masked_select": lambda x: (lambda chosen: lambda: x[chosen])(x > 1),
        "clamp": plain(torch.clamp, 0.5, 1.5),
        "add a row": lambda x: (lambda row: lambda: x + row)(x[0].clone()),
        "add a column": lambda x: (lambda column: lambda: x + column)(x[:, :1].clone()),
        "clone": lambda x: lambda: x.clone(),
        "contiguous of t": lambda x: lambda: x.t().contiguous(),
        "to(float32)": plain(lambda x: x.to(torch.float32, copy=True)),
        "to(float64)": plain(lambda x: x.to(torch.float64, copy=True)),
        "to(bfloat16)": plain(lambda x: x.to(torch.bfloat16, copy=True)),
        "to(float16)": plain(lambda x: x.to(torch.float16, copy=True)),
        "to(int64)": plain(lambda x: x.to(torch.int64)),
        "to(bool)": plain(lambda x: x.to(torch.bool)),
        "cat": lambda x: lambda: torch.cat((x, x), 1),
        "stack": lambda x: lambda: torch.stack((x, x)),
        "flip": lambda x: lambda: x.flip(1),
        "roll": lambda x: lambda: x.roll(3, 1),
        "repeat": lambda x: lambda: x.repeat(1, 2),
        "sum": plain(torch.sum),
        "sum 0": plain(torch.sum, 0),
        "sum 1": plain(torch.sum, 1),
        "mean 1": plain(torch.mean, 1),
        "var": plain(torch.var),
        "var 0": plain(torch.var, 0),
        "var 1": plain(torch.var, 1),
        "norm": plain(torch.linalg.vector_norm),
        "norm 0": plain(torch.linalg.vector_norm, dim=0),
        "norm 1": plain(torch.linalg.vector_norm, dim=1),
        "norm, ord 1": plain(torch.linalg.vector_norm, ord=1),
        "max": plain(torch.max),
        "max 0": plain(torch.max, 0),
        "max 1": plain(torch.max, 1),
        "amax 0": plain(torch.amax, 0),
        "argmax 1": plain(torch.argmax, 1),
        "prod 1": plain(torch.prod, 1),
        "logsumexp 1": plain(torch.logsumexp, 1),
        "all": lambda x: (lambda y: lambda: y.all())(x > 0),
        "cumsum 0": plain(torch.cumsum, 0),
        "cumsum 1": plain(torch.cumsum, 1),
        "softmax 0": plain(torch.softmax, 0),
        "softmax 1": plain(torch.softmax, 1),
        "log_softmax 1": plain(torch.log_softmax, 1),
        "layer_norm": lambda x: lambda: functional.layer_norm(x, x.shape[1:]),
        "rms_norm": lambda x: lambda: functional.rms_norm(x, x.shape[1:]),
        "sort 1": plain(torch.sort, 1),
        "sort 0": plain(torch.sort, 0),
        "argsort 1": plain(torch.argsort, 1),
        "topk 10": plain(torch.topk, 10, 1),
        "kthvalue": plain(torch.kthvalue, 8, 1),
        "median 1": plain(torch.median, 1),
        "median": plain(torch.median),
        "unique": plain(lambda x: torch.unique((x * 1000).to(torch.int64))),
        "bincount": plain(lambda x: torch.bincount((x * 100).to(torch.int64).flatten())),
        "histc": plain(lambda x: torch.histc(x.float(), 100)),
        "nonzero": plain(lambda x: torch.nonzero(x > 1)),
        "index_select 0": lambda x: (lambda rows: lambda: x.index_select(0, rows))(torch.randperm(x.size(0))),
        "index_select 1": lambda x: (lambda rows: lambda: x.index_select(1, rows))(torch.randperm(x.size(1))),
        "x[rows]": lambda x: (lambda rows: lambda: x[rows])(torch.randperm(x.size(0))),
        "index_add 0": lambda x: (lambda rows: lambda: x.index_add(0, rows, x))(torch.randint(x.size(0), (x.size(0),))),
        "gather 0": indexed(lambda x, index: torch.gather(x, 0, index)),
        "gather 1": indexed(lambda x, index: torch.gather(x, 1, index)),
        "scatter_add 0": indexed(lambda x, index: torch.scatter_add(x, 0, index, x)),
        "scatter_add 1": indexed(lambda x, index: torch.scatter_add(x, 1, index, x)),
        "tril": plain(torch.tril),
        "resize uint8": _resized,
        "x @ x": lambda x: lambda: x @ x,
        "uniform_": filled("uniform_"),
        "normal_": filled("normal_"),
        "bernoulli_": filled("bernoulli_", 0.3),
        "exponential_": filled("exponential_"),
        "random_": filled("random_", 100),
        "dropout": plain(functional.dropout, 0.3),
        "randperm": lambda x: (lambda count: lambda: torch.randperm(count))(x.numel()),
        "fill_": filled("fill_", 1.5),
        "equal": lambda x: (lambda y: lambda: torch.equal(x, y))(x.clone()),
    }
    return found


def _resized(x: Any) -> Work:
    functional = import_module("torch.nn.functional")
    image = (x.float() * 80).clamp(0, 255).byte().contiguous()[None, None]
    size = (x.size(0) // 2, x.size(1) // 2)
    return lambda: functional.interpolate(image, size, mode="bilinear", antialias=True)


def _training(torch: Any, function: Any, *tensors: Any) -> Work:
    """Forward and backward, with gradients of all floating `tensors`."""
    leaves = [tensor.requires_grad_() if tensor.is_floating_point() else tensor for tensor in tensors]
    result = function(*leaves)
    gradient = torch.rand_like(result)

    def work() -> None:
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward(gradient)

    return work


RECURRENT = ((1, 16, 32), (16, 32, 128), (32, 64, 256), (64, 16, 512))  # batch, steps, size


def _reading(torch: Any, make: Any, batch: int, steps: int, size: int) -> Work:
    """A recurrent network over a sequence, without a gradient."""
    torch.manual_seed(0)
    layer, x = make(size, size, batch_first=True).eval(), torch.randn(batch, steps, size)

    def work() -> None:
        with torch.no_grad():
            layer(x)

    return work


def _stepping(torch: Any, kind: str, count: int, size: int, dtype: str, **options: Any) -> Work:
    """Steps of an optimizer over some matrices."""
    torch.manual_seed(0)
    matrices = [torch.randn(size, size).to(getattr(torch, dtype)).requires_grad_() for _ in range(count)]
    for matrix in matrices:
        matrix.grad = torch.randn(size, size).to(matrix.dtype)
    work: Work = getattr(torch.optim, kind)(matrices, lr=1e-4, **options).step
    return work


def layers(torch: Any) -> Iterator[Case]:
    """Layers and losses, forward and backward."""
    functional = torch.nn.functional

    def train(name: str, function: Any, *shapes: Any, dtype: str = "float32") -> Case:
        def prepare() -> Work:
            torch.manual_seed(0)
            made = [shape() if callable(shape) else torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes]
            return _training(torch, function, *made)

        return f"{name}{'' if dtype == 'float32' else ' ' + dtype}", prepare

    def module(name: str, make: Callable[[], Any], *shapes: Any) -> Case:
        def prepare() -> Work:
            torch.manual_seed(0)
            layer = make()

            def function(*inputs: Any) -> Any:
                result = layer(*inputs)
                return result[0] if isinstance(result, tuple) else result

            made = [shape() if callable(shape) else torch.randn(shape) for shape in shapes]
            step = _training(torch, function, *made)

            def work() -> None:
                for parameter in layer.parameters():
                    parameter.grad = None
                step()

            return work

        return name, prepare

    row, matrix, image = (1024,), (1024, 1024), (16, 32, 28, 28)
    for dtype in ("float32", "bfloat16", "float64"):
        for name in ACTIVATIONS.split():
            yield train(name, getattr(functional, name), matrix, dtype=dtype)
        yield train("softmax", lambda x: torch.softmax(x, -1), matrix, dtype=dtype)
        yield train("log_softmax", lambda x: torch.log_softmax(x, -1), matrix, dtype=dtype)
        yield train("layer_norm", lambda x, w, b: functional.layer_norm(x, row, w, b), matrix, row, row, dtype=dtype)
        yield train("rms_norm", lambda x, w: functional.rms_norm(x, row, w), matrix, row, dtype=dtype)
        yield train("linear 256 x 512 to 512", functional.linear, (256, 512), (512, 512), (512,), dtype=dtype)
        yield train("matmul 8 x 128 x 128", torch.matmul, (8, 128, 128), (8, 128, 128), dtype=dtype)

    def labels(count: int, classes: int) -> Callable[[], Any]:
        return lambda: torch.randint(classes, (count,))

    yield train("cross_entropy 1024 of 1024", functional.cross_entropy, matrix, labels(1024, 1024))
    yield train("cross_entropy 128 of 10", functional.cross_entropy, (128, 10), labels(128, 10))
    yield train("mse_loss", functional.mse_loss, matrix, matrix)
    yield train("smooth_l1_loss", functional.smooth_l1_loss, matrix, matrix)
    yield train(
        "bce with logits", lambda x: functional.binary_cross_entropy_with_logits(x, x.detach().sigmoid()), matrix
    )
    yield train("dropout", lambda x: functional.dropout(x, 0.3), matrix)
    yield train("embedding 4096 of 1024", lambda w, i: functional.embedding(i, w), (1024, 256), labels(4096, 1024))
    yield train("glu", functional.glu, matrix)
    yield train("cat", lambda x, y: torch.cat((x, y), 1), matrix, matrix)
    yield train("x[rows]", lambda x, rows: x[rows], matrix, labels(1024, 1024))
    yield train("norm", torch.linalg.vector_norm, matrix)
    yield train("var 1", lambda x: x.var(1), matrix)
    yield train("sum 0", lambda x: x.sum(0), matrix)
    nn = torch.nn
    last = {"memory_format": torch.channels_last}
    for name, make in (
        ("BatchNorm2d", lambda: nn.BatchNorm2d(32)),
        ("GroupNorm", lambda: nn.GroupNorm(8, 32)),
        ("MaxPool2d 2", lambda: nn.MaxPool2d(2)),
        ("MaxPool2d 3, step 2", lambda: nn.MaxPool2d(3, 2, 1)),
        ("AvgPool2d 2", lambda: nn.AvgPool2d(2)),
        ("AdaptiveAvgPool2d 7", lambda: nn.AdaptiveAvgPool2d(7)),
    ):
        yield module(f"{name}, last", make, lambda: torch.randn(image).to(**last))
    yield train(
        "grid_sample nearest",
        partial(functional.grid_sample, mode="nearest", align_corners=False),
        image,
        (16, 28, 28, 2),
    )
    yield train(
        "embedding 4096 of 1024",
        lambda w, i: functional.embedding(i, w),
        (1024, 256),
        labels(4096, 1024),
        dtype="bfloat16",
    )
    yield train("index_select 1", lambda x, i: x.index_select(1, i), matrix, labels(1024, 1024))
    yield module("BatchNorm1d", lambda: nn.BatchNorm1d(128), (64, 128))
    yield module("BatchNorm2d", lambda: nn.BatchNorm2d(32), image)
    yield module("BatchNorm2d, evaluation", lambda: nn.BatchNorm2d(32).eval(), image)
    yield module("GroupNorm", lambda: nn.GroupNorm(8, 32), image)
    yield module("GroupNorm of a U-Net", lambda: nn.GroupNorm(32, 320), (2, 320, 32, 32))
    yield module("InstanceNorm2d", lambda: nn.InstanceNorm2d(32), image)
    yield module("MaxPool2d 2", lambda: nn.MaxPool2d(2), image)
    yield module("MaxPool2d 3, step 2", lambda: nn.MaxPool2d(3, 2, 1), image)
    yield module("AvgPool2d 2", lambda: nn.AvgPool2d(2), image)
    yield module("AdaptiveAvgPool2d 7", lambda: nn.AdaptiveAvgPool2d(7), image)
    yield module("Upsample bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), image)
    yield module("Upsample nearest", lambda: nn.Upsample(scale_factor=2), image)
    yield module("Linear 64 to 64", lambda: nn.Linear(64, 64), (32, 64))
    for kind, make in (("LSTM", nn.LSTM), ("GRU", nn.GRU), ("RNN", nn.RNN)):
        for batch, steps, size in RECURRENT:
            title = f"{kind} {size}, {batch} x {steps}"
            yield module(title, partial(make, size, size, batch_first=True), (batch, steps, size))
            yield title + ", evaluation", partial(_reading, torch, make, batch, steps, size)
    yield module(
        "TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(256, 8, 512, 0.0, batch_first=True), (4, 64, 256)
    )
    for kind, options in (("Adam", {}), ("AdamW", {}), ("SGD", {"momentum": 0.9})):
        for count, size in ((100, 8), (20, 256)):
            for fused, dtype in ((False, "float32"), (True, "float32"), (True, "bfloat16")):
                title = f"{kind}{', fused' * fused}, {count} x {size} x {size}{', bfloat16' * (dtype == 'bfloat16')}"
                yield title, partial(_stepping, torch, kind, count, size, dtype, fused=fused, **options)
    attention = functional.scaled_dot_product_attention
    for shape in ((4, 8, 64, 32), (2, 8, 256, 64), (1, 4, 1024, 64)):
        for dtype in ("float32", "bfloat16"):
            title = "attention " + " x ".join(map(str, shape))
            yield train(title, attention, shape, shape, shape, dtype=dtype)
            yield train(title + " causal", partial(attention, is_causal=True), shape, shape, shape, dtype=dtype)


CONVOLUTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], int, int, int], ...] = (
    # input, weight, stride, padding, groups
    ((8, 16, 28, 28), (16, 16, 3, 3), 1, 1, 1),
    ((8, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    ((8, 64, 28, 28), (64, 64, 3, 3), 1, 1, 1),
    ((8, 32, 56, 56), (64, 32, 3, 3), 2, 1, 1),
    ((8, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    ((8, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    ((8, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    ((8, 64, 56, 56), (128, 64, 1, 1), 2, 0, 1),
    ((8, 64, 28, 28), (256, 64, 1, 1), 1, 0, 1),
    ((32, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1),
    ((2, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    ((2, 3, 224, 224), (192, 3, 16, 16), 16, 0, 1),
    ((8, 64, 28, 28), (64, 8, 3, 3), 1, 1, 8),
    ((8, 64, 28, 28), (64, 1, 3, 3), 1, 1, 64),
    ((8, 96, 56, 56), (96, 1, 3, 3), 2, 1, 96),
    ((8, 96, 28, 28), (24, 96, 1, 1), 1, 0, 1),
    ((8, 240, 14, 14), (240, 1, 5, 5), 1, 2, 240),
    ((4, 96, 56, 56), (96, 1, 7, 7), 1, 3, 96),
    ((8, 256, 14, 14), (256, 8, 3, 3), 1, 1, 32),
    ((8, 960, 7, 7), (960, 1, 5, 5), 1, 2, 960),
    ((4, 512, 14, 14), (512, 512, 3, 3), 2, 1, 1),
    ((1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    ((4, 3, 224, 224), (96, 3, 4, 4), 4, 0, 1),
    ((4, 3, 224, 224), (32, 3, 3, 3), 2, 1, 1),
    ((8, 24, 56, 56), (144, 24, 1, 1), 1, 0, 1),
    ((8, 72, 56, 56), (72, 1, 5, 5), 2, 2, 72),
    ((8, 144, 56, 56), (144, 1, 3, 3), 1, 1, 144),
    ((8, 128, 28, 28), (128, 4, 3, 3), 1, 1, 32),
    ((8, 3, 96, 96), (24, 3, 3, 3), 2, 1, 1),
    ((1, 64, 256, 256), (2, 64, 1, 1), 1, 0, 1),
    ((16, 32, 256), (32, 32, 5), 1, 2, 1),
    ((2, 8, 16, 16, 16), (16, 8, 3, 3, 3), 1, 1, 1),
    ((32, 256, 28, 28), (512, 256, 1, 1), 2, 0, 1),
    ((32, 1, 50, 128), (100, 1, 3, 128), 1, 0, 1),
    ((16, 8, 22, 500), (16, 1, 22, 1), 1, 0, 8),
    ((1, 80, 3000), (384, 80, 3), 1, 1, 1),
    ((1, 128, 33, 33), (64, 128, 3, 3), 1, 1, 1),
    ((8, 8, 28, 28), (192, 8, 1, 1), 1, 0, 1),
    ((16, 96, 8, 8), (96, 1, 1, 1), 1, 0, 96),
    ((16, 128, 3, 3), (2, 128, 4, 4), 2, 2, 1),
    ((8, 240, 28, 28), (40, 240, 1, 1), 1, 0, 1),
    ((4, 512, 14, 14), (1024, 512, 1, 1), 1, 0, 1),
    ((4, 96, 24, 24), (96, 96, 5, 5), 1, 2, 1),
)


def convolutions(torch: Any) -> Iterator[Case]:
    """Convolutions of usual sizes: forward, and with backward; channels last and not; float32 and bfloat16."""
    functional = torch.nn.functional

    def prepare(
        case: Any, dtype: str, last: bool, backward: bool, transposed: bool = False, biased: bool = False
    ) -> Work:
        shape, weight_shape, stride, padding, groups = case
        torch.manual_seed(0)
        x, w = (torch.randn(sizes).to(getattr(torch, dtype)) for sizes in (shape, weight_shape))
        more = [torch.randn(weight_shape[0]).to(x.dtype)] if biased else []
        if last:
            x, w = (tensor.to(memory_format=torch.channels_last) for tensor in (x, w))
        name = f"conv{'_transpose' * transposed}{len(shape) - 2}d"
        function = partial(getattr(functional, name), stride=stride, padding=padding, groups=groups)
        return _training(torch, function, x, w, *more) if backward else partial(function, x, w, *more)

    for case in CONVOLUTIONS:
        shape, weight, stride, _, groups = case
        title = f"{'x'.join(map(str, shape))} by {'x'.join(map(str, weight))}"
        title += f" step {stride}" * (stride > 1) + f" groups {groups}" * (groups > 1)
        for backward in (False, True):
            for dtype, last in (("float32", False), ("float32", True), ("bfloat16", False), ("bfloat16", True)):
                if last and len(shape) != 4:
                    continue
                words = ", last" * last + f", {dtype}" * (dtype != "float32") + ", backward" * backward
                yield title + words, partial(prepare, case, dtype, last, backward)
    pointwise, grouped = ((8, 24, 56, 56), (144, 24, 1, 1), 1, 0, 1), ((8, 256, 14, 14), (256, 8, 3, 3), 1, 1, 32)
    for dtype, last in (("float32", False), ("float32", True), ("bfloat16", False), ("bfloat16", True)):
        words = ", last" * last + f", {dtype}"
        yield "with a bias, 24 channels to 144" + words, partial(prepare, pointwise, dtype, last, False, biased=True)
        yield "with a bias, groups of 8" + words, partial(prepare, grouped, dtype, last, False, biased=True)
    transposed = ((8, 32, 28, 28), (32, 16, 4, 4), 2, 1, 1)
    for backward in (False, True):
        yield f"transposed{', backward' * backward}", partial(prepare, transposed, "float32", False, backward, True)


def operators(torch: Any) -> Iterator[Case]:
    """Families of operators that `kernels` has not, forward and with backward."""
    yield from import_module("vs_pytorch_operators").operators(torch)


def transforms(torch: Any) -> Iterator[Case]:
    """Batches of functions and their derivatives."""
    yield from import_module("vs_pytorch_transforms").transforms(torch)


def steps(torch: Any) -> Iterator[Case]:
    """Whole training steps: forward, loss, backward, optimizer."""
    models = import_module("vs_pytorch_models")
    for name, make in models.MODELS.items():
        yield name, partial(_step, torch, make)


def programs(torch: Any) -> Iterator[Case]:
    """Whole programs of other kinds: networks, optimizers, ways to train, loops around data."""
    yield from import_module("vs_pytorch_programs").programs(torch)


def _step(torch: Any, make: Any) -> Work:
    torch.manual_seed(0)
    model, inputs, targets, optimizer_name = make(torch)
    optimizer = getattr(torch.optim, optimizer_name)(model.parameters(), lr=1e-3)
    cross_entropy = torch.nn.functional.cross_entropy

    def work() -> None:
        optimizer.zero_grad()
        cross_entropy(model(inputs).flatten(0, -2), targets.flatten()).backward()
        optimizer.step()

    return work


def loader(torch: Any) -> Iterator[Case]:
    """An epoch of torch.utils.data.DataLoader."""
    data = torch.utils.data

    def prepare(rows: Any, **options: Any) -> Work:
        dataset = data.TensorDataset(torch.rand(rows), torch.arange(rows[0]))

        def work() -> None:
            for _ in data.DataLoader(dataset, **options):
                pass

        return work

    for workers in (0, 2):
        words = f", {workers} workers" * bool(workers)
        yield (
            f"5,000 rows of 8 in batches of 1,000{words}",
            partial(prepare, (5000, 8), batch_size=1000, num_workers=workers),
        )
        images = partial(prepare, (256, 3, 64, 64), batch_size=64, shuffle=True, num_workers=workers)
        yield f"256 images of 3 x 64 x 64 in batches of 64{words}", images


SECTIONS = {
    section.__name__: section
    for section in (calls, kernels, operators, layers, convolutions, transforms, steps, programs, loader)
}


def measure(work: Work, count: int) -> tuple[float, float]:
    """Seconds and seconds of the processors per call."""
    gc.disable()
    start, used = time.perf_counter(), time.process_time()
    for _ in range(count):
        work()
    figures = (time.perf_counter() - start) / count, (time.process_time() - used) / count
    gc.enable()
    return figures


def rest(threads: int) -> None:
    """Wait for this process's threads to sleep: those that still look out for work would disturb the other torch."""
    for _ in range(100 if threads > 1 else 0):
        used = time.process_time()
        time.sleep(0.002)
        if time.process_time() - used < 0.0005:
            return


def serve(torch: Any) -> Iterator[object]:
    """Answer each line of standard input: [command, arguments...]."""
    work: Work | None = None
    prepared: dict[str, Any] = {}
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        if command == "section":
            prepared = dict(SECTIONS[arguments[0]](torch))
            yield list(prepared)
        elif command == "threads":
            torch.set_num_threads(arguments[0])
            yield None
        elif command == "prepare":
            work = None
            gc.collect()
            try:
                work = prepared[arguments[0]]()
                figures = measure(work, 1)
                if figures[0] < 0.1:  # The first call may also make what all others use.
                    figures = measure(work, 1)
                rest(torch.get_num_threads())
                yield {"seconds": figures[0]}
            except Exception as error:
                yield {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        elif command == "measure" and work:
            figures = measure(work, arguments[0])
            rest(torch.get_num_threads())
            yield figures
        elif command == "peak":  # of this process so far, in MiB
            yield resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Import torch, say how that went, then serve."""
    answers = sys.stdout
    start = time.perf_counter()
    torch = import_module("torch")
    took = time.perf_counter() - start
    gc.freeze()  # A collection before each case would look through all that was imported.
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        print(json.dumps({"version": torch.__version__, "import": took}), file=answers, flush=True)
        for answer in serve(torch):
            print(json.dumps(answer), file=answers, flush=True)
