"""Which of slipway's own code decides what a package of the embedded channel holds: it is part of the package's key."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_START = "bootstrap.assemble"
_IMPORT = re.compile(r"^\s*from slipway\.(bootstrap|channel)(?:\.(\w+))? import (.*)$", re.MULTILINE)


def code_files() -> dict[str, Path]:
    """The code by module: what assembles packages, and what that imports of bootstrap/ and channel/."""
    found: dict[str, Path] = {}
    waiting = [_START]
    while waiting:
        name = waiting.pop()
        path = Path(__file__).parents[1].joinpath(*name.split(".")).with_suffix(".py")
        if name not in found:
            found[name] = path
            for room, module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
                waiting += [f"{room}.{one}" for one in ([module] if module else names.split(", "))]
    return dict(sorted(found.items()))


def code_digest() -> str:
    """Changes with the code that decides what a package holds."""
    digest = hashlib.sha256()
    for path in code_files().values():
        digest.update(path.read_bytes())
    return digest.hexdigest()
