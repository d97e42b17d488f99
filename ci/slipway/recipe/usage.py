"""Which variant keys a piece of recipe text *uses*: they span the output's matrix and enter its hash.

conda-build decides by patterns over lines, not by evaluating, and a hash is only right if the same lines match. So the
rules below are the dialect's, quirks included: a key in a selector counts even where the selector drops its line; in
``{{ ... }}`` a key counts only at the start of the expression or as the first argument of a pin function; in ``{% if
%}`` it counts wherever its letters appear, in ``{% set %}`` and ``{% for %}`` only as a whole word; a requirement
counts when it is bare, with ``-`` and ``_`` taken as equal.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TOOLCHAIN_KEY = re.compile(r"(?P<language>.+?)_(?P<kind>compiler|stdlib)(?:_version)?")
_TREE_KEYS = "cdt_"
"""What the keys begin with that count where ``cdt()`` is called, whatever it says of them."""
_NOT_A_NAME = r"(?![a-zA-Z0-9_])"
REQUIREMENTS = re.compile(r"requirements:.+?(?=^\w|\Z|^\s+-\s(?=name|type))", flags=re.MULTILINE | re.DOTALL)
"""The requirements of one text: up to the next section at the margin, the next output or the end."""


class UsageFinder:
    """Finds used keys; looks at each text once, and compiles a key's pattern where a text holds the key's letters.

    Args:
        keys: every key of the matrix.
    """

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = tuple(sorted(keys))
        self._found: dict[tuple[str, str], frozenset[str]] = {}

    def in_selectors(self, text: str) -> frozenset[str]:
        """Keys in the selectors of text as written."""
        lines = [line for line in text.splitlines() if "[" in line]
        return self._find(
            "selectors", text, lambda key: any(key in line and _selector_pattern(key).search(line) for line in lines)
        )

    def in_text(self, text: str) -> frozenset[str]:
        """Keys in templates, requirements and compiler functions of text whose selectors have been applied."""
        lines = [line for line in text.splitlines() if line]
        used = self._find("text", text, lambda key: mentions(text, key) and any(map(_text_pattern(key).search, lines)))
        compiled = used & {"c_compiler", "cxx_compiler"}
        return used | {"CONDA_BUILD_SYSROOT"} if compiled and "CONDA_BUILD_SYSROOT" in self._keys else used

    def in_shell(self, script: str) -> frozenset[str]:
        """Keys that are the first variable expanded on some line of a shell script, as ``$key`` or ``${key}``."""
        return self._find("shell", script, lambda key: key in script and _shell_pattern(key).search(script))

    def in_batch(self, script: str) -> frozenset[str]:
        """Keys that a Windows batch file expands, as ``%key%`` or ``!key!``."""
        return self._find("batch", script, lambda key: f"%{key}%" in script or f"!{key}!" in script)

    def _find(self, kind: str, text: str, uses: Callable[[str], object]) -> frozenset[str]:
        if (kind, text) not in self._found:
            self._found[kind, text] = frozenset(key for key in self._keys if uses(key))
        return self._found[kind, text]


@functools.lru_cache(maxsize=4)
def finder_of(keys: frozenset[str]) -> UsageFinder:
    """The one for these keys: a recipe is rendered once more with what the solver says, and its texts are the same."""
    return UsageFinder(keys)


def mentions(text: str, key: str) -> bool:
    """Whether a text can use a key at all: a quick test, true far more often than the patterns hold."""
    if toolchain := _TOOLCHAIN_KEY.fullmatch(key):
        return toolchain["language"] in text
    if key.startswith(_TREE_KEYS) and "cdt(" in text:
        return True
    return key in text or key in text.replace("-", "_")


@functools.cache
def _selector_pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"^[^#\[]*?#?\s\[[^\]]*?(?<![_\w]){re.escape(key)}[=\s<>!\]]")


@functools.cache
def _text_pattern(key: str) -> re.Pattern[str]:
    name = re.escape(key)
    dashed = "[-_]".join(re.escape(part) for part in key.split("_"))
    patterns = [
        rf"\{{\s*(?:pin_[a-z]+\(\s*?['\"])?{name}(?:[^a-zA-Z0-9_].*?)?\}}\}}",
        rf"^\s+-\s+{dashed}\s*(?:\s[\[#]|$)",
        rf"(?:^|[^{{])\{{%[-+]?\s*(?:el)?if\s*.*{name}\s*[^%]*?%\}}",
        rf"(?:^|[^{{])\{{%[-+]?\s*for\s.*\sin\s*{name}{_NOT_A_NAME}[^%]*?%\}}",
        rf"(?:^|[^{{])\{{%[-+]?\s*set\s.*=\s*.*(?<![a-zA-Z0-9_]){name}{_NOT_A_NAME}[^%]*?%\}}",
    ]
    if toolchain := _TOOLCHAIN_KEY.fullmatch(key):
        kind, language = toolchain["kind"], re.escape(toolchain["language"])
        patterns.append(rf"\{{\s*{kind}\(\s*['\"]{language}['\"].*\)")
    if key.startswith(_TREE_KEYS):
        patterns.append(r"\{\{\s*cdt\(")
    return re.compile("|".join(patterns))


@functools.cache
def _shell_pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"^[^$]*?\$\{{?\s*{re.escape(key)}\s*[\s|}}]", flags=re.MULTILINE)
