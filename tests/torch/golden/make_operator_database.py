"""Chooses calls from PyTorch's own database of operators, and writes them with PyTorch's answers:

    python tests/torch/golden/make_operator_database.py

Run it in an environment with torch==2.13.0 (CPU), NumPy, SciPy and expecttest. Of every operator there are up to two
calls in float32 and one in each of two types of other kinds that CUDA has, with small tensors where there are any;
which ones, a seed decides, so that all types and layouts occur. Left out is what is random, has more than one right
answer or depends on more than its arguments' values, and what PyTorch itself answers otherwise in float64: its rounding
is not to be repeated.
"""

from __future__ import annotations

import itertools
import random
import sys
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from operator_database import (  # noqa: E402
    DIFFERENTIATED,
    LAYOUTS,
    TOLERANCE,
    Decoder,
    Writer,
    ask,
    function_of,
    write,
)

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (
    ("float64", "complex64"),
    ("float16", "bfloat16"),
    ("int64", "int32", "uint8", "bool"),
)
ENOUGH, TOO_MUCH = 400, 10_000  # bytes of a call's tensors
LEFT_OUT = {
    # what nobody wrote
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_",
    # vectors with a free sign or phase, and orders of equals
    "svd", "svd_lowrank", "pca_lowrank", "linalg.svd", "linalg.eig", "linalg.eigh", "linalg.qr", "qr", "geqrf",
    "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.lstsq", "argsort", "sort", "msort", "topk",
    # PyTorch's gradient is one of the elements that were written over, and has an imaginary part on the diagonal
    "as_strided_scatter", "cholesky", "linalg.cholesky", "linalg.cholesky_ex",
    # sums that overflow, of integers of 8 bits
    "trapezoid", "trapz", "cumulative_trapezoid",
    # PyTorch leaves the statistics away that it was given; it has two digits less than SciPy
    "native_batch_norm", "_native_batch_norm_legit", "special.bessel_y1",
    # numbers and places that are random; indices that stay on the CPU
    "multinomial", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "tensor_split",
}  # fmt: skip


def _bytes(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return int(value.numel() * value.element_size())
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 0


def _paths(op: Any) -> Iterator[str]:
    name = op.name.removeprefix("torch.")
    for path in (f"torch.{name}", f"torch.Tensor.{name.rpartition('.')[2]}"):
        try:
            found = function_of(torch, path)
        except AttributeError:
            continue
        if callable(found) and not isinstance(found, type):
            yield path


def _same(one: Any, other: Any) -> bool:
    try:
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    except (AssertionError, TypeError, ValueError):
        return False
    return True


class PreciseDecoder(Decoder):
    """Makes the arguments of a call in float64 and complex128."""

    def _tensor(self, dtype: str, shape: list[int], offset: int) -> Any:
        tensor = super()._tensor(dtype, shape, offset)
        if tensor.is_complex():
            return tensor.to(torch.complex128)
        return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


def _ask(
    call: dict[str, Any], writer: Writer, layout: str = "contiguous", *, precisely: bool = False
) -> tuple[Any, Any]:
    decoder = (PreciseDecoder if precisely else Decoder)(torch, bytes(writer.blob), "cpu", layout)
    args, kwargs = decoder.arguments(call["args"], call["kwargs"])
    return ask(torch, call["path"], args, kwargs, decoder.leaves if call["dtype"] in DIFFERENTIATED else [])


def _find_call(op: Any, sample: Any, dtype: str) -> tuple[dict[str, Any], Any] | None:
    """How a sample is called by a public name, and what comes of it; None if no name gives the database's answer.

    The database swaps arguments where the first is not the one that is differentiated.
    """
    try:
        expected = op.op(sample.input, *sample.args, **sample.kwargs)
    except (RuntimeError, AssertionError):  # of the call; of jiterator, that there is no device
        return None
    given = (sample.input, *sample.args)
    for path in _paths(op):
        for args in itertools.permutations(given) if len(given) <= 3 else [given]:
            try:
                answer = function_of(torch, path)(*args, **sample.kwargs)
            except (RuntimeError, TypeError, ValueError, IndexError, AttributeError):
                continue
            if _same(answer, expected):
                return {"path": path, "dtype": dtype, "args": args, "kwargs": sample.kwargs}, answer
    return None


def _store(op: Any, sample: Any, dtype: str, chance: random.Random, writer: Writer) -> dict[str, Any] | None:
    """The call of a sample with its answers, encoded; None if it is none for the file."""
    found = _find_call(op, sample, dtype)
    if found is None:
        return None
    call, answer = found
    try:
        call |= {"args": writer.encode(list(call["args"]))["list"]}
        call |= {"kwargs": {name: writer.encode(value) for name, value in call["kwargs"].items()}}
        plain = _ask(call, writer)
        if not _same(plain[0], answer) or not _same(plain, _ask(call, writer)):
            return None  # of the arguments' memory, or random
        if not _is_close(plain, _ask(call, writer, precisely=True)):
            return None
        layout = chance.choice(LAYOUTS)
        if not _is_close(plain, _try(call, writer, layout)):
            layout = "contiguous"
        answer, gradients = map(writer.encode, plain)
    except (TypeError, RuntimeError):
        return None
    name = f"{op.name}-{op.variant_test_name}" if op.variant_test_name else op.name
    return call | {"operator": name, "layout": layout, "answer": answer, "gradients": gradients}


def _try(call: dict[str, Any], writer: Writer, layout: str) -> tuple[Any, Any] | None:
    try:
        return _ask(call, writer, layout)
    except RuntimeError:  # views of what is not contiguous
        return None


def _is_close(one: Any, other: Any) -> bool:
    """Whether two answers are the same within a quarter of what the test allows for the type of the first."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        allowed = TOLERANCE.get(str(one.dtype).removeprefix("torch."), (0.0, 0.0))
        return one.shape == other.shape and torch.allclose(
            other, one.to(other.dtype), *(each / 4 for each in allowed), equal_nan=True
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is_close, one, other))
    return _same(one, other)


def _is_supported(op: Any, dtype: str) -> bool:
    return all(op.supports_dtype(getattr(torch, dtype), device) for device in ("cpu", "cuda"))


def _size(sample: Any) -> int:
    return _bytes([sample.input, sample.args, sample.kwargs])


def _preference(sample: Any) -> int:
    """What is small, in any order; then what is larger; at last what is empty, as no kernel answers it."""
    size = _size(sample)
    return max(size, ENOUGH) if size else sys.maxsize


def _calls_of(op: Any, writer: Writer) -> Iterator[dict[str, Any]]:
    chance = random.Random(zlib.crc32(f"{op.name} {op.variant_test_name}".encode()))
    kinds = [[dtype for dtype in kind if _is_supported(op, dtype)] for kind in (("float32",), *KINDS)]
    chosen = [chance.choice(kind) for kind in kinds if kind]
    while len(chosen) > 3:
        chosen.remove(chance.choice(chosen[1:]))
    for dtype in chosen:
        differentiated = op.supports_autograd and dtype in DIFFERENTIATED
        torch.manual_seed(0)
        samples = itertools.islice(op.sample_inputs("cpu", getattr(torch, dtype), differentiated), 60)
        samples = [sample for sample in samples if _size(sample) <= TOO_MUCH]
        chance.shuffle(samples)
        wanted = 2 if dtype == "float32" else 1
        samples.sort(key=_preference)
        calls = (_store(op, sample, dtype, chance, writer) for sample in samples)
        yield from itertools.islice((call for call in calls if call is not None), wanted)


def main() -> None:
    if not torch.__version__.startswith("2.13."):
        raise SystemExit(f"this is PyTorch {torch.__version__}; the golden answers are those of 2.13")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    writer = Writer(torch)
    calls = []
    for op in op_db:
        if op.name in LEFT_OUT:
            continue
        found = list(_calls_of(op, writer))
        if not found:
            print(f"nothing of {op.name} {op.variant_test_name}")
        calls += found
    size = write(calls, bytes(writer.blob))
    print(f"{len(calls)} calls of {len({call['operator'] for call in calls})} operators: {size} bytes")


if __name__ == "__main__":
    main()
