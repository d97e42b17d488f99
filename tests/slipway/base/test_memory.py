"""Memory that can be used: the machine's, or less where a container has a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.memory import available_memory

if TYPE_CHECKING:
    from pathlib import Path


def test_available_memory(tmp_path: Path) -> None:
    meminfo, groups = tmp_path / "meminfo", tmp_path / "groups"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n", encoding="ascii")
    assert available_memory(meminfo, groups) == 2 * 1024 * 1024
    assert available_memory() > 0
    meminfo.write_text("MemTotal: 1 kB\n", encoding="ascii")
    with pytest.raises(ValueError, match="no MemAvailable"):
        available_memory(meminfo, groups)


@pytest.mark.parametrize(
    ("limit", "expected"), [("max", 9_216_000), ("5000000", 5_000_000 - 4_000_000 + 500_000), ("3000000", 0)]
)
def test_a_containers_limit_counts(tmp_path: Path, limit: str, expected: int) -> None:
    (tmp_path / "meminfo").write_text("MemAvailable: 9000 kB\n", encoding="ascii")
    (tmp_path / "memory.max").write_text(f"{limit}\n", encoding="ascii")
    (tmp_path / "memory.current").write_text("4000000\n", encoding="ascii")
    (tmp_path / "memory.stat").write_text("anon 3\ninactive_file 500000\n", encoding="ascii")
    assert available_memory(tmp_path / "meminfo", tmp_path) == expected
