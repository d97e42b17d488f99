"""`assert_close`: values, dtypes, shapes and devices, with a message that says where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

# dtype -> relative and absolute tolerance; exact for the others
_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


class _Comparison:
    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
        check_device: bool,
        check_dtype: bool,
        check_layout: bool,
        check_stride: bool,
        message: str | Callable[[str], str] | None,
    ) -> None:
        self.tolerances = (rtol, atol)
        self.equal_nan, self.check_device, self.check_dtype = equal_nan, check_device, check_dtype
        self.check_layout, self.check_stride, self.message = check_layout, check_stride, message

    def fail(self, text: str, path: str, kind: type[Exception] = AssertionError) -> NoReturn:
        if path:
            text = f"{text}\n\nThe failure occurred for item {path}"
        if self.message is not None:
            text = self.message(text) if callable(self.message) else self.message
        raise kind(text)

    def compare(self, actual: Any, expected: Any, path: str) -> None:
        if isinstance(actual, torch.Tensor) or isinstance(expected, torch.Tensor):
            if not (isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor)):
                self.fail(_mismatched_types(actual, expected), path, TypeError)
            self.compare_tensors(actual, expected, path)
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            if actual.keys() != expected.keys():
                self.fail(
                    "The keys of the mappings do not match:\n"
                    f"Missing keys in the actual mapping: {sorted(expected.keys() - actual.keys())}\n"
                    f"Additional keys in the actual mapping: {sorted(actual.keys() - expected.keys())}",
                    path,
                )
            for key in expected:
                self.compare(actual[key], expected[key], f"{path}[{key!r}]")
        elif _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                self.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
            for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
                self.compare(one, other, f"{path}[{number}]")
        elif isinstance(actual, (bool, int, float, complex)) and isinstance(expected, (bool, int, float, complex)):
            self.compare_numbers(actual, expected, path)
        elif actual is None and expected is None:
            return
        elif type(actual).__module__ == "numpy" or type(expected).__module__ == "numpy":
            self.compare_tensors(torch.as_tensor(actual), torch.as_tensor(expected), path)
        else:
            self.fail(_mismatched_types(actual, expected), path, TypeError)

    # ------------------------------------------------------------------ numbers

    def compare_numbers(self, actual: complex, expected: complex, path: str) -> None:
        kind = bool if isinstance(actual, bool) and isinstance(expected, bool) else int
        if isinstance(actual, float) or isinstance(expected, float):
            kind = float  # type: ignore[assignment]
        if isinstance(actual, complex) or isinstance(expected, complex):
            kind = complex  # type: ignore[assignment]
        if self.check_dtype and type(actual) is not type(expected):
            self.fail(f"The values for attribute 'dtype' do not match: {type(actual)} != {type(expected)}.", path)
        relative, absolute = self.tolerance(torch.int64 if kind in (bool, int) else torch.float64, torch.int64)
        if actual == expected or (self.equal_nan and actual != actual and expected != expected):
            return
        difference = abs(actual - expected)
        if difference <= absolute + relative * abs(expected):
            return
        allowed = "" if relative == absolute == 0 else f" (up to {absolute} allowed)"
        quotient = difference / abs(expected) if expected else float("inf")
        allowed_relative = "" if relative == absolute == 0 else f" (up to {relative} allowed)"
        word = "equal" if relative == absolute == 0 else "close"
        self.fail(
            f"Scalars are not {word}!\n\nExpected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{allowed}\nRelative difference: {quotient}{allowed_relative}",
            path,
        )

    # ------------------------------------------------------------------ tensors

    def tolerance(self, *dtypes: torch.dtype) -> tuple[float, float]:
        """The larger of the dtypes' tolerances, unless they were given."""
        defaults = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        relative, absolute = self.tolerances
        return (
            max(pair[0] for pair in defaults) if relative is None else relative,
            max(pair[1] for pair in defaults) if absolute is None else absolute,
        )

    def compare_tensors(self, actual: Tensor, expected: Tensor, path: str) -> None:
        def attribute(name: str, one: object, other: object) -> None:
            if one != other:
                self.fail(f"The values for attribute '{name}' do not match: {one} != {other}.", path)

        attribute("shape", actual.shape, expected.shape)
        if self.check_layout:
            attribute("layout", actual.layout, expected.layout)
        if self.check_device:
            attribute("device", actual.device, expected.device)
        if self.check_dtype:
            attribute("dtype", actual.dtype, expected.dtype)
        if self.check_stride:
            attribute("stride()", actual.stride(), expected.stride())
        if torch.strided not in (actual.layout, expected.layout) and actual.layout == expected.layout:
            self.compare_parts(actual.detach(), expected.detach(), path)
            return
        actual, expected = actual.to_dense(), expected.to_dense()
        relative, absolute = self.tolerance(actual.dtype, expected.dtype)
        with torch.no_grad():
            common = torch.promote_types(actual.dtype, expected.dtype)
            one, other = actual.detach().cpu().to(common), expected.detach().cpu().to(common)
            close = torch.isclose(one, other, rtol=relative, atol=absolute, equal_nan=self.equal_nan)
            if bool(close.all()):
                return
            self.fail(self.description(one, other, close, relative, absolute), path)

    def compare_parts(self, actual: Tensor, expected: Tensor, path: str) -> None:
        """Sparse tensors of one layout: how many values there are, where, and which."""
        if actual.is_sparse and actual.is_coalesced() != expected.is_coalesced():
            actual, expected = actual.coalesce(), expected.coalesce()
        if actual._nnz() != expected._nnz():
            kind = "COO" if actual.is_sparse else "compressed"
            counts = f"{actual._nnz()} != {expected._nnz()}"
            self.fail(f"The number of specified values in sparse {kind} tensors does not match: {counts}", path)
        parts = {torch.sparse_csr: ("crow_indices", "col_indices"), torch.sparse_csc: ("ccol_indices", "row_indices")}
        for name in (*parts.get(actual.layout, ("_indices",)), "_values"):
            self.compare_tensors(getattr(actual, name)(), getattr(expected, name)(), path)

    def description(self, one: Tensor, other: Tensor, close: Tensor, relative: float, absolute: float) -> str:
        wide = torch.float64 if one.is_floating_point() else torch.int64
        if one.is_complex():
            wide = torch.complex128
        difference = (one.to(wide) - other.to(wide)).abs().reshape(-1)
        quotient = (difference.double() / other.to(wide).abs().double().reshape(-1)).masked_fill(difference == 0, 0.0)
        matches = close.reshape(-1)
        exact = relative == absolute == 0
        word = "equal" if exact else "close"
        wrong = int((~matches).sum())
        total = matches.numel()

        def greatest(values: Tensor, limit: float) -> str:
            values = values.masked_fill(matches, 0)
            position = int(values.argmax())
            index: list[int] = []
            rest = position
            for length in reversed(one.shape):
                index.insert(0, rest % length)
                rest //= length
            allowed = "" if exact else f" (up to {limit} allowed)"
            where = f" at index {tuple(index)}" if one.dim() else ""
            return f"{values[position].item()}{where}{allowed}"

        header = f"Tensor-likes are not {word}!\n\n" if one.dim() else f"Scalars are not {word}!\n\n"
        count = f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n" if one.dim() else ""
        if not one.dim():
            count = f"Expected {other.item()} but got {one.item()}.\n"
        label = "Greatest absolute" if one.dim() else "Absolute"
        label_relative = "Greatest relative" if one.dim() else "Relative"
        return (
            f"{header}{count}{label} difference: {greatest(difference, absolute)}\n"
            f"{label_relative} difference: {greatest(quotient, relative)}"
        )


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _mismatched_types(actual: object, expected: object) -> str:
    return (
        "No comparison pair was able to handle inputs of type "
        f"{type(actual)} and {type(expected)}: compare tensors, numbers, or containers of them"
    )


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Tensors, numbers, NumPy arrays, and sequences and mappings of them. The tolerances default to the dtype's (float32:
    1.3e-6 and 1e-5; integers: exact) and must be given together. `msg` replaces the message, or makes it from it.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or unspecified, but got "
            f"{'no ' if rtol is None else ''}rtol{'' if rtol is None else f'={rtol}'} and "
            f"{'no ' if atol is None else ''}atol{'' if atol is None else f'={atol}'}"
        )
    if not allow_subclasses and type(actual) is not type(expected):
        raise TypeError(_mismatched_types(actual, expected))
    comparison = _Comparison(rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, msg)
    comparison.compare(actual, expected, "")
