"""Match specs: what conda-build leaves implicit is said."""

import pytest

from slipway.channel.specs import strict_spec


@pytest.mark.parametrize(
    ("written", "strict"),
    [
        ("python", "python"),
        ("numpy 2.1", "numpy 2.1.*"),
        ("cuda-version 13.0", "cuda-version 13.0.*"),
        ("libtoy 1.0 mkl_h12_0", "libtoy ==1.0 mkl_h12_0"),
        ("libtorch 2.2.0a0 *_0", "libtorch ==2.2.0a0 *_0"),
        ("python 3.11.* *_cpython", "python 3.11.* *_cpython"),
        ("libfoo >=1.2,<2", "libfoo >=1.2,<2"),
        ("fonts 1!2.0+local.1", "fonts 1!2.0+local.1.*"),
        ("fonts 1!2.0+local.1 h1_0", "fonts ==1!2.0+local.1 h1_0"),
        ("libq-extra ===0.9.1", "libq-extra ==0.9.1"),
    ],
)
def test_strict_spec(written: str, strict: str) -> None:
    from rattler import MatchSpec

    assert strict_spec(written) == strict
    MatchSpec(strict)
