"""Measures a torch on a CUDA device, beside another one: products, memory, launches, training steps.

    python bench/torch_cuda.py [--beside PYTHON] [--small]

Uses the torch that this Python imports; PYTHON is one that imports another, PyTorch say. --small is for devices that
are not there (`./slipway test emulation`): it shows that everything runs, and its figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Measure = tuple[str, str, Callable[[], object], float]


def seconds(torch: Any, work: Callable[[], object], *, repeats: int) -> float:
    """The time of one call, by events: the least of three series."""
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


def products(torch: Any, size: int) -> Iterator[Measure]:
    """Square matrices, in floating-point operations."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a = torch.ones(size, size, device="cuda", dtype=dtype)
        yield f"product {size} {str(dtype)[6:]}", "TFLOP/s", partial(torch.mm, a, a), 2e-12 * size**3


def traffic(torch: Any, count: int) -> Iterator[Measure]:
    """What only moves memory, in bytes that have to be read and written."""
    x, y = (torch.ones(count, device="cuda") for _ in range(2))
    columns = x.view(-1, 1024).t()
    host = torch.ones(count)
    for name, work, passes in (
        ("copy on the device", lambda: y.copy_(x), 2),
        ("copy of columns", lambda: columns.contiguous(), 2),
        ("copy from the host", lambda: y.copy_(host), 1),
        ("add", lambda: torch.add(x, x, out=y), 2),
        ("gelu", lambda: torch.nn.functional.gelu(x), 2),
        ("sum", lambda: x.sum(), 1),
        ("sum of columns", lambda: x.view(-1, 1024).sum(0), 1),
        ("softmax of rows", lambda: x.view(-1, 1024).softmax(1), 2),
        ("sort of rows", lambda: x.view(-1, 1024).sort(1), 4),
    ):
        yield name, "GB/s", work, passes * 4e-9 * count


def training(torch: Any, model: Any, inputs: Any, targets: Any) -> Callable[[], None]:
    """One step of Adam."""
    model, inputs, targets = model.cuda(), inputs.cuda(), targets.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        scores = model(inputs)
        torch.nn.functional.cross_entropy(scores.flatten(0, -2), targets.flatten()).backward()
        optimizer.step()

    return step


def steps(torch: Any, width: int) -> Iterator[Measure]:
    """A multilayer perceptron, a network of convolutions, and a transformer."""
    nn = torch.nn
    hidden = [layer for _ in range(2) for layer in (nn.Linear(width, width), nn.ReLU())]
    perceptron = nn.Sequential(*hidden, nn.Linear(width, 10))
    first = [nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    images = nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(64 * 8 * 8, 10))
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    transformer = nn.Sequential(nn.Embedding(256, width), nn.TransformerEncoder(layer, 2), nn.Linear(width, 256))
    batch = max(2, width // 8)
    text = torch.arange(4 * batch).view(4, batch) % 256
    for name, model, inputs, targets in (
        ("perceptron", perceptron, torch.ones(batch, width), torch.arange(batch) % 10),
        ("convolutions", images, torch.ones(batch, 3, 32, 32), torch.arange(batch) % 10),
        ("transformer", transformer, text, text),
    ):
        yield f"training step: {name}", "steps/s", training(torch, model, inputs, targets), 1.0


def measure(torch: Any, *, small: bool) -> dict[str, tuple[float, str]]:
    """Each figure and its unit."""
    one = torch.ones(1, device="cuda")
    measures = [
        *products(torch, 32 if small else 4096),
        *traffic(torch, 1 << (12 if small else 26)),
        ("launch", "launches/s", lambda: one.add_(1), 1.0),
        *steps(torch, 16 if small else 512),
    ]
    repeats = 1 if small else 20
    return {name: (amount / seconds(torch, work, repeats=repeats), unit) for name, unit, work, amount in measures}


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
        other = json.loads(subprocess.check_output(command, text=True))
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}")
    copied = found["copy on the device"][0]
    for name, (value, unit) in found.items():
        share = f"  {value / copied:5.2f} of a copy" if unit == "GB/s" else ""
        beside = f"  {other[name][0]:12.3f} there, {value / other[name][0]:5.2f} of it" if name in other else ""
        print(f"{name:32}{value:14.3f} {unit:10}{share}{beside}")


if __name__ == "__main__":
    main()
