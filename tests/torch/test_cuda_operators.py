"""Every row of op_db on a CUDA device: the CPU's values and gradients, on the device, and nothing left behind.

Without a device the same kernels run under the emulation of src/test/cuda_emulation: `./slipway test emulation`.
"""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import op_db
import pytest
from op_sample import TOLERANCE, Call, Op, build, function_of

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

WITHOUT_CUDA = Path(__file__).parent / "golden" / "without_cuda.txt"
# What the CPU is told, so that it computes as CUDA does by default.
AS_ON_CUDA: dict[str, dict[str, Any]] = {"linalg.lstsq": {"driver": "gels"}}
ROWS = [(index, row, dtype) for index, row in enumerate(op_db.OPS) for dtype in row.dtypes]


@pytest.fixture(scope="module", autouse=True)
def _what_is_there_stays() -> Iterator[None]:
    """Searches for garbage, two per test, leave out modules and tests: they are most of what a search would look at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def _moved(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().cuda().requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_moved, value))
    return value


def _tensors(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for item in result for tensor in _tensors(item)] if isinstance(result, (list, tuple)) else []


def _answer(row: Op, args: Any, kwargs: Any, *, gradients: bool) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Results, and the gradients of all leaves for the sum of all floating results."""
    results = _tensors(function_of(torch, row.path)(*args, **kwargs))
    if not gradients:
        return [result.detach() for result in results], []
    leaves = [tensor for tensor in _tensors([*args, *kwargs.values()]) if tensor.requires_grad]
    total = sum((result.sum() for result in results if result.requires_grad), torch.zeros((), device=results[0].device))
    if total.requires_grad:
        total.backward()
    found = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]
    return [result.detach() for result in results], found


def _compare(row: Op, sample: Call, dtype: str) -> None:
    gradients = row.gradient and dtype.startswith("float")
    args, kwargs, _ = build(torch, sample, dtype, gradients=gradients)
    moved = [_moved(value) for value in args], {key: _moved(value) for key, value in kwargs.items()}
    try:
        expected = _answer(row, args, AS_ON_CUDA.get(row.path, {}) | kwargs, gradients=gradients)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            _answer(row, *moved, gradients=gradients)
        return
    actual = _answer(row, *moved, gradients=gradients)
    for wanted, got, scale in ((expected[0], actual[0], row.scale), (expected[1], actual[1], row.gradient_scale)):
        assert len(wanted) == len(got)
        for one, other in zip(wanted, got, strict=True):
            if _tensors(moved[0]):
                assert other.is_cuda, row.path
            relative, absolute = (4 * scale * each for each in TOLERANCE.get(str(one.dtype)[6:], (0.0, 0.0)))
            torch.testing.assert_close(other.cpu(), one.cpu(), rtol=relative, atol=absolute, equal_nan=True)


def _blocks_in_use() -> Counter[int]:
    """How many blocks of so many bytes tensors have on the device."""
    blocks = (block for segment in torch.cuda.memory_snapshot() for block in segment["blocks"])
    return Counter(block["requested_size"] for block in blocks if block["state"] == "active_allocated")


def _lacks_cuda(row: Op, dtype: str) -> bool:
    """Runs the row's samples; True if CUDA has no kernel for it."""
    try:
        for sample in row.calls:
            _compare(row, sample, dtype)
    except NotImplementedError:  # the CPU has an answer
        return True
    return False


@pytest.mark.parametrize(("index", "row", "dtype"), ROWS, ids=[f"{i}-{row.path}-{dtype}" for i, row, dtype in ROWS])
def test_as_on_the_cpu(index: int, row: Op, dtype: str) -> None:
    gc.collect()
    before = _blocks_in_use()
    lacks = _lacks_cuda(row, dtype)
    gc.collect()
    assert _blocks_in_use() == before, "device memory was left behind, or was there and went: blocks by their bytes"
    listed = f"{row.path} {dtype}" in WITHOUT_CUDA.read_text(encoding="utf-8").splitlines()
    if lacks and not listed:
        pytest.fail(f"{row.path} has no CUDA kernel for {dtype}; what lacks one is listed in {WITHOUT_CUDA.name}")
