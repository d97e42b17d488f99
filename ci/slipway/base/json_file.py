"""JSON files of slipway's own, which it keeps to remember something.

No machine and no disk gives back for certain what was written: what is damaged counts as not there. Whether it has the
right shape, `slipway.base.schema.convert` tells.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def read_json(path: Path) -> Any:
    """What stands in a JSON file of our own; None where there is no such file, or it was damaged."""
    try:
        return parse_json(path.read_bytes())
    except OSError:
        return None


def parse_json(text: str | bytes) -> Any:
    """The JSON value that is written as `text`; None for what is no JSON, or holds numbers without an end."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
