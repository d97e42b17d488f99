"""Generated files: what an emitter makes, and how it reaches the disk."""

from __future__ import annotations

import os
import string
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Output:
    """A file to be: its path under the output folder, and its whole text."""

    path: PurePosixPath
    text: str


def fill(template: str, **values: str) -> str:
    """The template file of that name with each `${name}` replaced. Raises KeyError for a name that was not given."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return string.Template(text).substitute(values)


def write(output: Output, output_dir: Path) -> bool:
    """Writes the file beside its place and renames it; leaves it alone, dates and all, when the text is the same.

    Returns whether it wrote, so that a build recompiles only what changed.
    """
    path = output_dir / output.path
    if path.is_file() and path.read_text(encoding="utf-8") == output.text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(output.text, encoding="utf-8")
    beside.replace(path)
    return True
