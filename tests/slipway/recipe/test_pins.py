from __future__ import annotations

from typing import Any

import pytest

from slipway.recipe.pins import pin_range


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("1.2.3", {}, ">=1.2.3,<2.0a0"),
        ("1.2.3", {"max_pin": "x.x"}, ">=1.2.3,<1.3.0a0"),
        ("1.2.3", {"min_pin": "x.x", "max_pin": "x.x"}, ">=1.2,<1.3.0a0"),
        ("1.2.3", {"max_pin": None}, ">=1.2.3"),
        ("1.2.3", {"min_pin": None, "max_pin": "x.x"}, "<1.3.0a0"),
        ("1.2.3", {"min_pin": "x", "max_pin": "x.x.x"}, ">=1,<1.2.4.0a0"),
        ("1.2.3", {"lower_bound": "1.0", "upper_bound": "3.0"}, ">=1.0,<3.0"),
        ("1.2.3", {"upper_bound": "3.0"}, ">=1.2.3,<3.0"),
        ("3.11.*", {"min_pin": "x.x", "max_pin": "x.x"}, ">=3.11,<3.12.0a0"),
        ("12", {"max_pin": "x.x"}, ">=12,<13.0a0"),
        ("2.2.0a0", {"max_pin": "x.x"}, ">=2.2.0a0,<2.3.0a0"),
        ("2.2.0a0", {"min_pin": "x.x", "max_pin": "x.x"}, ">=2.2.0a0,<2.3.0a0"),
        ("2.2.0.post1", {"min_pin": "x.x", "max_pin": "x.x"}, ">=2.2,<2.3.0a0"),
        ("2.2.1rc1", {"min_pin": "x.x", "max_pin": "x"}, ">=2.2,<3.0a0"),
        ("1.1.1k", {"max_pin": "x.x.x"}, ">=1.1.1k,<1.1.2.0a0"),
        ("9b", {"max_pin": "x"}, ">=9b,<10.0a0"),
    ],
)
def test_pin_range(version: str, bounds: dict[str, Any], expected: str) -> None:
    assert pin_range(version, **bounds) == expected
