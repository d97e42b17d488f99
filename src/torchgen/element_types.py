"""The element types, read from the table in c10/core/ScalarType.h: what type checkers are told about them.

The table is the compiler's own source; only its strings are read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchgen.errors import DeclarationError, Location

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "c10/core/ScalarType.h"
# row(C++ type, enumerator, number, "name", "second name", ...)
_ROW = re.compile(r'\brow\([\w:<>]+, (?P<enumerator>\w+), \d+, "(?P<name>\w+)", "(?P<second>\w*)"')


@dataclass(frozen=True)
class ElementType:
    """A row of the table: `enumerator` (Float) names storages and messages, `names` are those of its dtype."""

    enumerator: str
    names: tuple[str, ...]


def load_element_types(source_dir: Path) -> tuple[ElementType, ...]:
    """Every row of the table, in its order; DeclarationError if there is none."""
    text = (source_dir / HEADER).read_text(encoding="utf-8")
    types = tuple(
        ElementType(match["enumerator"], tuple(filter(None, (match["name"], match["second"]))))
        for match in _ROW.finditer(text)
    )
    if not types:
        raise DeclarationError(Location(HEADER, 1), "has no rows of element types", "write them as its comment says")
    return types
