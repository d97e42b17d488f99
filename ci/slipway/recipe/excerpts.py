"""Cuts the recipe's text into the parts whose used variables count for one output.

The cut is made on text before Jinja, where loops and conditions still stand between the outputs; so it goes by line
starts. Each part comes twice: as written (for selectors) and with selectors applied (for everything else).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.recipe.selectors import Line

_OUTPUTS: Final = re.compile(r"^outputs:.+?(?=^\w|\Z)", flags=re.MULTILINE | re.DOTALL)
_OUTPUT: Final = re.compile(
    r"^ *-[ ]+(?:name|type):.+?(?=^\w|\Z|^ *-[ ]+(?:name|type):)", flags=re.MULTILINE | re.DOTALL
)
_PLACEHOLDER: Final = re.compile(r"h\{\{\s*PKG_HASH\s*\}\}")


_PIN: Final = re.compile(
    r"^requirements:(?:(?!^(?:test|extra|about):).)*?\{\{\s*pin_subpackage\(", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Excerpt:
    """Text as written, and the same with selectors applied."""

    written: str
    selected: str

    @property
    def places_hash(self) -> bool:
        """Whether a build string asks for the hash, as ``h{{ PKG_HASH }}``."""
        return "string:" in self.selected and _PLACEHOLDER.search(self.selected) is not None


@dataclass(frozen=True)
class Excerpts:
    """The parts of one variant's text.

    Attributes:
        whole: all of it.
        top_level: without `outputs`.
        outputs: one part per output in the text.
    """

    whole: Excerpt
    top_level: Excerpt
    outputs: tuple[Excerpt, ...]

    def of(self, index: int | None, *, is_top_level: bool) -> Excerpt:
        """The part that counts for one output: its own entry, the top level, or both where they share a name.

        Outputs that a loop makes share the loop's text.
        """
        if index is None:
            return self.top_level
        own = self.outputs[min(index, len(self.outputs) - 1)] if self.outputs else self.whole
        if not is_top_level:
            return own
        return Excerpt(f"{self.top_level.written}\n{own.written}", f"{self.top_level.selected}\n{own.selected}")


def cut(lines: Sequence[Line], selected: Sequence[Line]) -> Excerpts:
    """Cut one variant's text.

    Args:
        lines: every line.
        selected: those whose selectors hold.
    """
    written = "\n".join(line.raw for line in lines)
    kept = "\n".join(line.text for line in selected)
    written_outputs, kept_outputs = _outputs_of(written), _outputs_of(kept)
    pairs = [
        Excerpt(written_outputs[index] if index < len(written_outputs) else text, text)
        for index, text in enumerate(kept_outputs)
    ]
    return Excerpts(
        whole=Excerpt(written, kept),
        top_level=Excerpt(_OUTPUTS.sub("", written), _OUTPUTS.sub("", kept)),
        outputs=tuple(pairs),
    )


def pins_at_top_level(selected: Sequence[Line]) -> bool:
    """Whether the top level's own requirements use `pin_subpackage`: then it is a package as well."""
    return _PIN.search(_OUTPUTS.sub("", "\n".join(line.text for line in selected))) is not None


def _outputs_of(text: str) -> list[str]:
    block = _OUTPUTS.search(text)
    return _OUTPUT.findall(block[0]) if block else []
