"""How much memory there is to use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def available_memory(meminfo: Path = Path("/proc/meminfo"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be used without swapping: what the machine has left, or less in a container with a limit.

    Args:
        groups: where control groups (version 2) are mounted; in a container, its own.

    Raises:
        ValueError: the kernel does not say.
    """
    for line in meminfo.read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return min([int(rest.split()[0]) * 1024, *_group_room(groups)])
    raise ValueError(f"{meminfo} has no MemAvailable")


def _group_room(groups: Path) -> Iterator[int]:
    """What this process's control group and those around it have left, where there is a limit."""
    own = ""
    with suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        own = next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")
    folder = groups / own
    for place in (folder, *(parent for parent in folder.parents if parent.is_relative_to(groups))):
        with suppress(OSError, ValueError):  # "max": no limit
            limit = int((place / "memory.max").read_text(encoding="ascii"))
            used = int((place / "memory.current").read_text(encoding="ascii"))
            facts = dict(line.split() for line in (place / "memory.stat").read_text(encoding="ascii").splitlines())
            # Cached files that nobody reads just now make room when it is needed.
            yield max(limit - used + int(facts.get("inactive_file", 0)), 0)
