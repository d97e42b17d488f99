"""Measures a torch on a CUDA device, beside another one: products, memory, launches, training steps.

    python bench/torch_cuda.py [--beside PYTHON] [--small]

Uses the torch that this Python imports; PYTHON is one that has another, PyTorch say, installed: PYTHONPATH is kept from
it. --small is for devices that are not there (`./slipway test emulation`): it shows that everything runs; its figures
mean nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Measure = tuple[str, str, Callable[[], object], float]


def seconds(torch: Any, work: Callable[[], object], *, repeats: int) -> float:
    """The time of one call, by events: the least of three series."""
    for _ in range(min(repeats, 3)):  # libraries are loaded, algorithms chosen, memory is had
        work()
    best = float("inf")
    for _ in range(3):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) / 1000 / repeats)
    return max(best, 1e-9)


def with_tf32(torch: Any, work: Callable[[], object]) -> Callable[[], None]:
    """The work, with float32 products in TF32."""

    def run() -> None:
        torch.backends.cuda.matmul.allow_tf32 = True
        work()
        torch.backends.cuda.matmul.allow_tf32 = False

    return run


def products(torch: Any, size: int) -> Iterator[Measure]:
    """Square matrices of random numbers, in floating-point operations."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a = torch.randn(size, size, device="cuda").to(dtype)
        yield f"product {size} {str(dtype)[6:]}", "TFLOP/s", partial(torch.mm, a, a), 2e-12 * size**3
        if dtype == torch.float32:
            work = with_tf32(torch, partial(torch.mm, a, a))
            yield f"product {size} tf32", "TFLOP/s", work, 2e-12 * size**3
    many = torch.randn(64, size // 8, size // 8, device="cuda", dtype=torch.bfloat16)
    yield f"64 products {size // 8} bfloat16", "TFLOP/s", partial(torch.bmm, many, many), 128e-12 * (size // 8) ** 3


def traffic(torch: Any, count: int) -> Iterator[Measure]:
    """What only moves memory, in bytes that have to be read and written."""
    functional = torch.nn.functional
    width = min(1024, count // 4)
    x, y = (torch.randn(count, device="cuda") for _ in range(2))
    rows, columns = x.view(-1, width), y.view(-1, width).t()
    half, out_half = x.bfloat16(), y.bfloat16()
    vector = torch.randn(width, device="cuda")
    host, pinned = torch.randn(count), torch.randn(count).pin_memory()
    places = torch.randint(len(rows), (len(rows),), device="cuda")
    inside = torch.randint(width, (len(rows), width), device="cuda")
    targets = torch.randint(width, (len(rows),), device="cuda")
    for name, work, passes in (
        ("copy on the device", lambda: y.copy_(x), 2),
        ("copy of columns", lambda: columns.contiguous(), 2),
        ("copy from the host", lambda: y.copy_(host), 1),
        ("copy from pinned memory", lambda: y.copy_(pinned, non_blocking=True), 1),
        ("to bfloat16", lambda: out_half.copy_(x), 1.5),
        ("fill", lambda: y.fill_(1.0), 1),
        ("add", lambda: torch.add(x, x, out=y), 2),
        ("add of bfloat16", lambda: torch.add(half, half, out=out_half), 1),
        ("add of a row to rows", lambda: torch.add(rows, vector, out=y.view(-1, width)), 2),
        ("add of columns to rows", lambda: rows.t() + columns, 3),
        ("gelu", lambda: functional.gelu(x), 2),
        ("exp", lambda: torch.exp(x), 2),
        ("comparison", lambda: x < y, 2.25),
        ("where", lambda: torch.where(x < 0, x, y), 4.5),
        ("cat", lambda: torch.cat((x, y)), 4),
        ("sum", lambda: x.sum(), 1),
        ("sum of rows", lambda: rows.sum(1), 1),
        ("sum of columns", lambda: rows.sum(0), 1),
        ("sum of bfloat16", lambda: half.sum(), 0.5),
        ("largest of rows", lambda: rows.max(1), 1),
        ("variance of rows", lambda: rows.var(1), 1),
        ("norm", lambda: torch.linalg.vector_norm(x), 1),
        ("softmax of rows", lambda: rows.softmax(1), 2),
        ("layer_norm of rows", lambda: functional.layer_norm(rows, (width,), vector, vector), 2),
        ("cross_entropy of rows", lambda: functional.cross_entropy(rows, targets), 1),
        ("cumsum of rows", lambda: rows.cumsum(1), 2),
        ("index_select of rows", lambda: rows.index_select(0, places), 2),
        ("gather in rows", lambda: rows.gather(1, inside), 4),
        ("scatter_add in rows", lambda: y.view(-1, width).scatter_add_(1, inside, rows), 5),
        ("index_add of rows", lambda: y.view(-1, width).index_add_(0, places, rows), 3),
        ("dropout", lambda: functional.dropout(x, 0.1), 2.25),
        ("randn", lambda: y.normal_(), 1),
        ("sort of rows", lambda: rows.sort(1), 4),
        ("topk of rows", lambda: rows.topk(min(10, width), 1), 1),
        ("nonzero", lambda: (x < 2).nonzero(), 4),
    ):
        yield name, "GB/s", work, passes * 4e-9 * count


def layers(torch: Any, width: int) -> Iterator[Measure]:
    """Layers forward and backward."""
    functional = torch.nn.functional
    batch = max(2, width // 16)
    side = 56 if width > 100 else 8
    for label, dtype, layout in (
        ("float32", torch.float32, torch.contiguous_format),
        ("bfloat16", torch.bfloat16, torch.contiguous_format),
        ("bfloat16 channels last", torch.bfloat16, torch.channels_last),
    ):
        kind: dict[str, Any] = {"device": "cuda", "dtype": dtype}
        images = torch.randn(batch, 64, side, side, **kind).to(memory_format=layout).requires_grad_()
        for name, convolve in (
            ("3 x 3", torch.nn.Conv2d(64, 64, 3, padding=1, **kind)),
            ("3 x 3 stride 2", torch.nn.Conv2d(64, 128, 3, stride=2, padding=1, **kind)),
            ("1 x 1", torch.nn.Conv2d(64, 256, 1, **kind)),
            ("depthwise 3 x 3", torch.nn.Conv2d(64, 64, 3, padding=1, groups=64, **kind)),
        ):
            convolve.to(memory_format=layout)
            grad = torch.randn_like(convolve(images))
            yield f"convolution {name} {label}", "1/s", partial(step, convolve, images, grad), 1.0
    for dtype in (torch.float32, torch.bfloat16):
        kind = {"device": "cuda", "dtype": dtype}
        queries = torch.randn(batch // 4 or 1, 8, 2 * width, 64, requires_grad=True, **kind)
        attend = partial(attention, functional)
        yield f"attention {str(dtype)[6:]}", "1/s", partial(step, attend, queries, torch.randn_like(queries)), 1.0
        norm = torch.nn.LayerNorm(width, **kind)
        rows = torch.randn(64 * width, width, requires_grad=True, **kind)
        yield f"layer_norm {str(dtype)[6:]}", "1/s", partial(step, norm, rows, torch.randn_like(rows)), 1.0
    normalize = torch.nn.BatchNorm2d(64, device="cuda")
    images = torch.randn(batch, 64, side, side, device="cuda", requires_grad=True)
    yield "batch_norm", "1/s", partial(step, normalize, images, torch.randn_like(images)), 1.0
    embed = torch.nn.Embedding(50 * width, width, device="cuda")
    words = torch.randint(50 * width, (batch, 2 * width), device="cuda")
    yield "embedding", "1/s", partial(step, embed, words, torch.randn_like(embed(words))), 1.0


def attentions(torch: Any, width: int) -> Iterator[Measure]:
    """Attention of 16-bit numbers by shape: forward, and with the gradients."""
    attend = torch.nn.functional.scaled_dot_product_attention
    for batch, heads, length, features, causal in (
        (16, 8, 2 * width, 64, True),
        (16, 8, 2 * width, 64, False),
        (4, 16, 8 * width, 128, True),
        (4, 16, 8 * width, 128, False),
        (64, 12, 197, 64, False),
        (2, 32, 16 * width, 128, True),
    ):
        shape = (batch, heads, length, features) if width > 100 else (1, 2, 4 * width, features)
        kind = {"device": "cuda", "dtype": torch.bfloat16}
        queries, keys, values = (torch.randn(shape, requires_grad=True, **kind) for _ in range(3))
        grad = torch.randn(shape, **kind)
        name = f"attention {' x '.join(map(str, shape))}{' causal' if causal else ''}"
        forward = partial(attend, queries.detach(), keys.detach(), values.detach(), is_causal=causal)
        # Two products of the scores' size forward and five backward, of which a causal one needs half.
        work = 4e-12 * math.prod(shape) * shape[2] * (0.5 if causal else 1)
        yield f"{name}, forward", "TFLOP/s", forward, work
        both = partial(gradients, partial(attend, queries, keys, values, is_causal=causal), grad)
        yield f"{name}, and backward", "TFLOP/s", both, 3.5 * work


def gradients(function: Callable[[], Any], grad: Any) -> None:
    """Forward and backward, of what takes nothing."""
    function().backward(grad)


def attention(functional: Any, x: Any) -> Any:
    """Of a tensor to itself, each place to those before it."""
    return functional.scaled_dot_product_attention(x, x, x, is_causal=True)


def step(layer: Any, inputs: Any, grad: Any) -> None:
    """Forward and backward."""
    layer(inputs).backward(grad)


def training(torch: Any, model: Any, inputs: Any, targets: Any, dtype: Any = None) -> Callable[[], None]:
    """One step of Adam; forward under autocast to `dtype`, if it is given."""
    model, inputs, targets = model.cuda(), inputs.cuda(), targets.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def train() -> None:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype, enabled=dtype is not None):
            scores = model(inputs)
            loss = torch.nn.functional.cross_entropy(scores.flatten(0, -2), targets.flatten())
        loss.backward()
        optimizer.step()

    return train


def perceptron(nn: Any, width: int) -> Any:
    """Three layers."""
    hidden = [layer for _ in range(2) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, 10))


def network_of_images(nn: Any, width: int) -> Any:
    """Blocks of two convolutions with batch_norm, halving the images twice."""
    blocks: list[Any] = [nn.Conv2d(3, width, 3, padding=1, bias=False)]
    for index in range(3):
        wider = width << index
        blocks += [nn.BatchNorm2d(wider), nn.ReLU(), nn.Conv2d(wider, wider, 3, padding=1, bias=False)]
        blocks += [nn.BatchNorm2d(wider), nn.ReLU(), nn.Conv2d(wider, 2 * wider, 3, stride=2, padding=1, bias=False)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10))


def transformer(nn: Any, width: int, depth: int) -> Any:
    """Of 256 words, from batches of sequences to scores."""
    layer = nn.TransformerEncoderLayer(width, max(2, width // 64), 4 * width, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Embedding(256, width), nn.TransformerEncoder(layer, depth), nn.Linear(width, 256))


def steps(torch: Any, width: int) -> Iterator[Measure]:
    """Whole training steps: what a launch costs, what a kernel costs, what a product costs."""
    batch = max(2, width // 8)
    images, numbers = torch.randn(batch, 3, 64, 64), torch.randint(10, (batch,))
    text = torch.randint(256, (max(2, width // 64), width // 2))
    small = max(8, width // 8)
    half = torch.bfloat16
    for name, model, inputs, targets, dtype in (
        ("small perceptron", perceptron(torch.nn, small), torch.randn(batch, small), numbers, None),
        ("perceptron", perceptron(torch.nn, 4 * width), torch.randn(8 * batch, 4 * width), numbers.repeat(8), None),
        ("convolutions", network_of_images(torch.nn, small), images, numbers, None),
        ("convolutions, bfloat16", network_of_images(torch.nn, small), images, numbers, half),
        ("transformer", transformer(torch.nn, width, 4), text, text, None),
        ("transformer, bfloat16", transformer(torch.nn, width, 4), text, text, half),
    ):
        yield f"training step: {name}", "steps/s", training(torch, model, inputs, targets, dtype), 1.0


def measure(torch: Any, *, small: bool) -> dict[str, tuple[float, str]]:
    """Each figure and its unit."""
    torch.manual_seed(0)
    one = torch.ones(1, device="cuda")
    groups = (
        products(torch, 32 if small else 8192),
        traffic(torch, 1 << (12 if small else 27)),
        layers(torch, 16 if small else 512),
        attentions(torch, 16 if small else 512),
        [("launch", "launches/s", lambda: one.add_(1), 1.0)],
        steps(torch, 16 if small else 512),
    )
    repeats = 1 if small else 10
    found = {}
    for group in groups:
        for name, unit, work, amount in group:
            try:
                found[name] = (amount / seconds(torch, work, repeats=200 if name == "launch" else repeats), unit)
            except RuntimeError as error:  # of a device: the other figures are worth having
                print(f"{name}: {error}", file=sys.stderr)
    return found


def main() -> None:
    """Print the figures, those of the other torch, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="PYTHON")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch = import_module("torch")  # whichever this Python has, and not before it has told its options
    found = measure(torch, small=arguments.small)
    if arguments.json:
        print(json.dumps(found))
        return
    other: dict[str, tuple[float, str]] = {}
    if arguments.beside:
        command = [arguments.beside, __file__, "--json", *(["--small"] if arguments.small else [])]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        other = json.loads(subprocess.check_output(command, text=True, env=environment))
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}")
    copied = found["copy on the device"][0]
    for name, (value, unit) in found.items():
        share = f"  {value / copied:5.2f} of a copy" if unit == "GB/s" else ""
        beside = f"  {other[name][0]:12.3f} there, {value / other[name][0]:5.2f} of it" if name in other else ""
        print(f"{name:44}{value:14.3f} {unit:10}{share}{beside}")


if __name__ == "__main__":
    main()
