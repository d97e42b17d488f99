"""How near torch comes to what the machine can: shares of a copy's bandwidth and of MKL's product of matrices.

    ./slipway bench torch_limits [--threads 1 2] [--rounds N]

Bandwidth: what a function must read and write at least, by its time, over what memmove of as many bytes reaches; both
of 4 MB tensors, which stay in the last cache of large processors, and of 256 MB, which do not. With two threads each of
them moves a half. Arithmetic: multiplications and additions of the definition, by the time, over those of MKL's
cblas_sgemm of 1024 x 1024 (cblas_dgemm for float64; sgemm's for bfloat16 too, so that the share shows what the short
type gains). A convolution of 3 x 3 can pass 1: Winograd's way takes fewer multiplications than the definition. The best
round of each counts.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = {"4 MB": (1024, 1024), "256 MB": (8192, 8192)}


@dataclass(frozen=True)
class Work:
    """A case, and what it takes at least: bytes moved, or multiplications and additions."""

    name: str
    run: Callable[[], object]
    amount: float
    rival: str


def movers(torch: Any) -> Iterator[Work]:
    """Functions that wait for memory."""
    functional = torch.nn.functional
    for title, shape in ROWS.items():
        x, y = torch.rand(shape), torch.rand(shape)
        out, row, half, chosen = torch.empty(shape), torch.rand(shape[1]), x.bfloat16(), x > 0.5
        size = float(x.nbytes)
        for name, run, tensors in (
            ("copy_", lambda x=x, out=out: out.copy_(x), 2),
            ("fill_", lambda out=out: out.fill_(1), 1),
            ("x + y, into a third", lambda x=x, y=y, out=out: torch.add(x, y, out=out), 3),
            ("x.mul_(y)", lambda y=y, out=out: out.mul_(y), 3),
            ("x + row", lambda x=x, row=row, out=out: torch.add(x, row, out=out), 2),
            ("x + y, new", lambda x=x, y=y: x + y, 3),
            ("relu, new", lambda x=x: torch.relu(x), 2),
            ("exp, into another", lambda x=x, out=out: torch.exp(x, out=out), 2),
            ("where, new", lambda x=x, y=y, chosen=chosen: torch.where(chosen, x, y), 3.25),
            ("to(bfloat16)", lambda x=x: x.bfloat16(), 1.5),
            ("bfloat16 + bfloat16", lambda half=half: half + half, 1.0),
            ("sum", lambda x=x: x.sum(), 1),
            ("sum 0", lambda x=x: x.sum(0), 1),
            ("sum 1", lambda x=x: x.sum(1), 1),
            ("max 1", lambda x=x: x.max(1), 1),
            ("var 1", lambda x=x: x.var(1), 1),
            ("softmax 1", lambda x=x: torch.softmax(x, 1), 2),
            ("layer_norm", lambda x=x: functional.layer_norm(x, x.shape[1:]), 2),
            ("cumsum 1", lambda x=x: x.cumsum(1), 2),
            ("cat", lambda x=x, y=y: torch.cat((x, y)), 4),
            ("contiguous of t", lambda x=x: x.t().contiguous(), 2),
        ):
            yield Work(f"{name}, {title}", run, size * tensors, title)


def multipliers(torch: Any) -> Iterator[Work]:
    """Functions that compute."""
    functional = torch.nn.functional
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        kind, words = "float64" if dtype == torch.float64 else "float32", str(dtype)[6:]
        for size in (256, 1024, 2048):
            a = torch.rand(size, size).to(dtype)
            yield Work(f"product of {size} x {size}, {words}", partial(torch.mm, a, a), 2.0 * size**3, kind)
    many = torch.rand(64, 128, 128)
    yield Work("64 products of 128 x 128", partial(torch.bmm, many, many), 128.0 * 128**3, "float32")
    x, w, b = torch.rand(512, 768), torch.rand(3072, 768), torch.rand(3072)
    yield Work("linear, 512 x 768 to 3072", partial(functional.linear, x, w, b), 2.0 * 512 * 768 * 3072, "float32")
    for channels, side in ((64, 56), (128, 28), (256, 14), (512, 7)):
        image, weight = torch.rand(8, channels, side, side), torch.rand(channels, channels, 3, 3)
        amount = 18.0 * 8 * side**2 * channels**2
        for dtype in (torch.float32, torch.bfloat16):
            run = partial(functional.conv2d, image.to(dtype), weight.to(dtype), padding=1)
            yield Work(f"conv 3 x 3 of {channels} at {side}, {str(dtype)[6:]}", run, amount, "float32")
    image, weight = torch.rand(8, 256, 28, 28), torch.rand(64, 256, 1, 1)
    yield Work("conv 1 x 1 of 256 to 64", partial(functional.conv2d, image, weight), 16.0 * 784 * 256 * 64, "float32")
    q = torch.rand(2, 8, 512, 64)
    attention = partial(functional.scaled_dot_product_attention, q, q, q)
    yield Work("attention, 2 x 8 x 512 x 64", attention, 4.0 * 16 * 512**2 * 64, "float32")


def measure(run: Callable[[], object], rounds: int) -> float:
    """Seconds of the best round."""
    best = float("inf")
    run()
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def bandwidth(torch: Any, size: int, threads: int, rounds: int) -> float:
    """Bytes that memmove reads and writes in a second, with `threads` pieces at a time."""
    source, target = torch.ones(size, dtype=torch.uint8), torch.ones(size, dtype=torch.uint8)
    piece = size // threads
    with ThreadPoolExecutor(threads) as pool:

        def move(index: int) -> None:  # ctypes lets go of the interpreter's lock
            ctypes.memmove(target.data_ptr() + index * piece, source.data_ptr() + index * piece, piece)

        run = partial(move, 0) if threads == 1 else lambda: list(pool.map(move, range(threads)))
        return 2.0 * size / measure(run, rounds)


def gemm(torch: Any, letter: str, threads: int, rounds: int) -> float:
    """Multiplications and additions of MKL's product in a second."""
    size = 1024
    mkl = ctypes.CDLL(str(next((Path(sys.prefix) / "lib").glob("libmkl_rt.so*"))))
    mkl.MKL_Set_Num_Threads(threads)
    a = torch.rand(size, size, dtype=torch.float64 if letter == "d" else torch.float32)
    b, c = a.clone(), torch.empty_like(a)
    number = ctypes.c_double if letter == "d" else ctypes.c_float
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (a, b, c)]
    plain, row_major = 111, 101
    function = getattr(mkl, f"cblas_{letter}gemm")

    def run() -> None:
        one, zero = number(1), number(0)
        function(
            row_major,
            plain,
            plain,
            size,
            size,
            size,
            one,
            pointers[0],
            size,
            pointers[1],
            size,
            zero,
            pointers[2],
            size,
        )

    return 2.0 * size**3 / measure(run, rounds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1], metavar="N", help="numbers of threads (default: 1)"
    )
    parser.add_argument("--rounds", type=int, default=15, help="of each; the best counts")
    options = parser.parse_args()
    torch = import_module("torch")  # whichever this Python has, and not before it has told its options
    for threads in options.threads:
        torch.set_num_threads(threads)
        limits = {
            title: bandwidth(torch, 4 * rows * columns, threads, options.rounds)
            for title, (rows, columns) in ROWS.items()
        }
        limits |= {
            "float32": gemm(torch, "s", threads, options.rounds),
            "float64": gemm(torch, "d", threads, options.rounds),
        }
        for title, works, unit in (("copies", movers, "GB/s"), ("products", multipliers, "GFLOP/s")):
            beside = ", ".join(
                f"{name} {limits[name] / 1e9:.1f}" for name in limits if (name in ROWS) == (unit == "GB/s")
            )
            print(f"\n{threads} thread{'s' * (threads > 1)}, beside {title}: {beside} {unit}")
            for work in works(torch):
                took = measure(work.run, options.rounds)
                speed = work.amount / took
                print(f"{work.name:40}{took * 1e6:10.0f} us{speed / 1e9:9.1f} {unit}{speed / limits[work.rival]:7.2f}")


if __name__ == "__main__":
    main()
