"""Pins: from a version to the range of versions that are taken as compatible with it.

A pin expression such as ``x.x`` says how many components of a version count. The lower bound keeps that many; the
upper bound increments the last of them and ends in ``.0a0``, so that pre-releases of the next version stay out.
"""

from __future__ import annotations

import re

_LEADING_DIGITS = re.compile(r"\d+")
_PIECES = re.compile(r"\d+|[a-z]+")


def pin_range(
    version: str,
    *,
    min_pin: str | None = "x.x.x.x.x.x",
    max_pin: str | None = "x",
    lower_bound: str | None = None,
    upper_bound: str | None = None,
) -> str:
    """``1.2.3`` with ``max_pin='x.x'`` -> ``>=1.2.3,<1.3.0a0``.

    Args:
        version: an exact version; a trailing ``.*`` is ignored.
        min_pin: components of the lower bound; None for no lower bound.
        max_pin: components of the upper bound; None for no upper bound.
        lower_bound: an explicit version instead of `min_pin`.
        upper_bound: an explicit version instead of `max_pin`.
    """
    version = version.removesuffix(".*")
    bounds = []
    if lower_bound:
        bounds.append(f">={lower_bound}")
    elif min_pin:
        bounds.append(f">={_lower(version, _count(min_pin))}")
    if upper_bound:
        bounds.append(f"<{upper_bound}")
    elif max_pin:
        bounds.append(f"<{_upper(version, _count(max_pin))}")
    return ",".join(bounds)


def _count(pin: str) -> int:
    return len(pin.split("."))


def _lower(version: str, places: int) -> str:
    parts = version.split(".")
    kept = ".".join(parts[:places])
    # 2.2.0a0 is older than 2.2, so `>=2.2` would exclude the very version that is pinned.
    return version if is_prerelease(".".join(parts[places:])) else kept


def _upper(version: str, places: int) -> str:
    parts = version.split(".")[:places]
    digits = _LEADING_DIGITS.match(parts[-1].rpartition("!")[2])
    parts[-1] = str(int(digits[0]) + 1) if digits else f"{parts[-1]}a"
    return ".".join(parts) + ".0a0"


def is_prerelease(rest: str) -> bool:
    """Whether a version that continues with `rest` comes before one that ends there: ``0a0`` does, ``1`` does not."""
    for piece in _PIECES.findall(rest.lower().partition("+")[0]):
        if piece.isdigit() and int(piece) > 0:
            return False
        if not piece.isdigit():
            return bool(piece != "post")
    return False
