"""How sources are written, as far as no other tool says it: C++ and CUDA. Ruff holds the lines of Python."""

from __future__ import annotations

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".hpp"}
COLUMNS = 120
# What builds leave in the checkout: packages, and what setup.py installs.
BUILT = {"build", "dist", "lib/include"}


def find_sources(folder: Path) -> list[Path]:
    """C++ and CUDA files under `folder`, but for those that a build has put there."""
    found = []
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder).as_posix()
        is_built = any(f"/{name}/" in f"/{within}/" for name in BUILT) or any(
            part.startswith(".") for part in path.relative_to(folder).parts
        )
        if path.suffix in SUFFIXES and not is_built:
            found.append(path)
    return found


def long_lines(text: str) -> list[int]:
    """The numbers of lines beyond COLUMNS."""
    return [number for number, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS]


def test_lines_fit_the_page() -> None:
    sources = find_sources(CHECKOUT / "src")
    assert len(sources) > 400
    long = [
        f"{path.relative_to(CHECKOUT)}:{number}"
        for path in sources
        for number in long_lines(path.read_text(encoding="utf-8"))
    ]
    assert not long, f"longer than {COLUMNS} columns: " + ", ".join(long)


@pytest.mark.parametrize(("length", "expected"), [(120, []), (121, [2])])
def test_long_lines_are_found(length: int, expected: list[int]) -> None:
    assert long_lines("\n" + "ä" * length + "\n") == expected


def test_what_was_built_is_left_out(tmp_path: Path) -> None:
    for name in ("a/b.cu", "build/c.cpp", "torch/lib/include/d.h", "torch/lib/e.cpp", ".hidden/f.cpp", "g.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in find_sources(tmp_path)] == ["b.cu", "e.cpp"]
