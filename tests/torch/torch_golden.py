"""Golden answers: a table of cases, each a function of `torch`, and what PyTorch 2.13 answered.

`golden/make_golden.py` runs the tables with real PyTorch and writes one `.npz` per table; the tests run the same
functions with the torch under test and compare. Only NumPy is needed to read the answers.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Case:
    """A function of the `torch` module, and how far its floating answer may be from PyTorch's."""

    function: Callable[[Any], Any]
    rtol: float = 0.0
    atol: float = 0.0
    tags: frozenset[str] = field(default_factory=frozenset)


def evaluate(torch: Any, case: Case) -> Any:
    """The case's answer; an exception is an answer, too: its type and message."""
    torch.manual_seed(0)
    try:
        return case.function(torch)
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}


# ---------------------------------------------------------------------------------------------------- store


class _Writer:
    def __init__(self) -> None:
        self.blob = bytearray()

    def encode(self, torch: Any, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            value = value.detach().resolve_conj().resolve_neg()  # of what PyTorch only marked
            dtype = str(value.dtype)
            array = _array(torch, value)
            offset = len(self.blob)
            self.blob += np.ascontiguousarray(array).tobytes()
            return {"tensor": [dtype, list(value.shape), offset]}
        if isinstance(value, dict):
            return {"dict": [[str(key), self.encode(torch, item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            return [self.encode(torch, item) for item in value]
        if isinstance(value, float):
            return {"float": repr(value)}
        if isinstance(value, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        return {"text": repr(value)}


def _array(torch: Any, value: Any) -> np.ndarray[Any, Any]:
    """The values; NumPy has no bfloat16, whose numbers float32 holds."""
    array: np.ndarray[Any, Any] = (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return array


def write_table(torch: Any, name: str, cases: dict[str, Case]) -> int:
    """Evaluates all cases with `torch` and writes golden/NAME.npz; returns its size in bytes."""
    writer = _Writer()
    index = {key: writer.encode(torch, evaluate(torch, case)) for key, case in cases.items()}
    text = json.dumps(index, separators=(",", ":"))
    path = GOLDEN / f"{name}.npz"
    np.savez_compressed(
        path, index=np.frombuffer(text.encode(), np.uint8), blob=np.frombuffer(bytes(writer.blob), np.uint8)
    )
    return path.stat().st_size


class Table:
    """The golden answers of one table."""

    def __init__(self, name: str) -> None:
        with np.load(GOLDEN / f"{name}.npz") as file:
            self.index: dict[str, Any] = json.loads(file["index"].tobytes())
            self._blob = file["blob"].tobytes()

    def __getitem__(self, key: str) -> Any:
        return self.index[key]

    def array(self, entry: dict[str, Any]) -> np.ndarray[Any, Any]:
        """The values of a tensor entry."""
        dtype, shape, offset = entry["tensor"]
        kind = np.dtype("float32" if dtype == "torch.bfloat16" else dtype.removeprefix("torch."))
        count = math.prod(shape)
        return np.frombuffer(self._blob, kind, count, offset).reshape(shape)

    def compare(self, torch: Any, actual: Any, expected: Any, case: Case, path: str = "") -> None:
        """AssertionError unless `actual` is the golden answer `expected`."""
        if isinstance(expected, dict) and "tensor" in expected:
            assert isinstance(actual, torch.Tensor), f"{path}: expected a tensor, got {actual!r}"
            self._compare_tensor(torch, actual, expected, case, path)
        elif isinstance(expected, dict) and "dict" in expected:
            pairs = dict(expected["dict"])
            assert isinstance(actual, dict), f"{path}: expected {_brief(pairs)}, got {actual!r}"
            keys = [str(key) for key in actual]
            assert keys == list(pairs), f"{path}: expected {_brief(pairs)}, got {_brief(actual)}"
            for key, item in zip(pairs, actual.values(), strict=True):
                self.compare(torch, item, pairs[key], case, f"{path}.{key}")
        elif isinstance(expected, dict) and "float" in expected:
            value = float(expected["float"])
            assert isinstance(actual, float), f"{path}: expected {value}, got {actual!r}"
            same = actual == value or (math.isnan(actual) and math.isnan(value))
            close = math.isclose(actual, value, rel_tol=case.rtol, abs_tol=case.atol)
            assert same or close, f"{path}: expected {value}, got {actual}"
        elif isinstance(expected, dict) and "complex" in expected:
            number = complex(*map(float, expected["complex"]))
            assert isinstance(actual, complex), f"{path}: expected {number}, got {actual!r}"
            assert abs(actual - number) <= case.atol + case.rtol * abs(number), (
                f"{path}: expected {number}, got {actual}"
            )
        elif isinstance(expected, dict):
            assert repr(actual) == expected["text"], path
        elif isinstance(expected, list):
            assert isinstance(actual, (list, tuple)), f"{path}: expected a sequence, got {actual!r}"
            assert len(actual) == len(expected), f"{path}: {len(actual)} items, expected {len(expected)}"
            for number, (item, wanted) in enumerate(zip(actual, expected, strict=True)):
                self.compare(torch, item, wanted, case, f"{path}[{number}]")
        else:
            assert actual == expected, f"{path}: expected {expected!r}, got {actual!r}"

    def _compare_tensor(self, torch: Any, actual: Any, expected: dict[str, Any], case: Case, path: str) -> None:
        dtype, shape, _ = expected["tensor"]
        assert (str(actual.dtype), list(actual.shape)) == (dtype, shape), path
        found = _array(torch, actual.detach())
        wanted = self.array(expected)
        if found.dtype.kind in "fc":
            np.testing.assert_allclose(found, wanted, rtol=case.rtol, atol=case.atol, equal_nan=True, err_msg=path)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=path)


def _brief(value: dict[str, Any]) -> str:
    return str({key: item if isinstance(item, str) else "..." for key, item in value.items()})
