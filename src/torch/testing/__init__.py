"""For tests: `assert_close`, `make_tensor` and `FileCheck`."""

from __future__ import annotations

from typing import Any

from torch.testing._comparison import assert_close
from torch.testing._creation import make_tensor
from torch.testing._file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The old form of `assert_close`, which it calls: dtypes may differ, and NaN equals NaN. Warns that it is old."""
    import warnings

    import torch

    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, torch.Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, torch.Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        exact = not (actual.dtype.is_floating_point or actual.dtype.is_complex)
        tolerances = {torch.float16: (1e-3, 1e-3), torch.float64: (1e-5, 1e-8)}
        rtol, atol = (0.0, 0.0) if exact else tolerances.get(actual.dtype, (1e-4, 1e-5))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
        check_stride=False, msg=msg or None,
    )  # fmt: skip
