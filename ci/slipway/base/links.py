"""The links of a source stay in it: what a build copies, packs or patches through one is the source's own.

A link that leaves would bring a file of this machine into a package. It is refused where it stands in the source,
whether its end exists or not, and whatever it leads to in the end: a path out of the folder and back in names
something else wherever the folder is copied.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_STEPS = 40
"""Links that the kernel follows on one path before it says that they go in circles."""


def read_links(root: Path) -> dict[str, str]:
    """Every link below `root`: its relative name, and what is written in it."""
    paths = (Path(parent) / name for parent, folders, names in os.walk(root) for name in (*folders, *names))
    return {path.relative_to(root).as_posix(): str(path.readlink()) for path in paths if path.is_symlink()}


def find_leaving_link(links: Mapping[str, str]) -> str | None:
    """The first of a folder's `links` (relative name to what is written in it) that leaves the folder; None if none.

    Links that lead through other links are followed as the kernel does; one that goes in circles leads nowhere.
    """
    return next((name for name in sorted(links) if _leaves(name, links)), None)


def _leaves(name: str, links: Mapping[str, str]) -> bool:
    place = name.split("/")[:-1]
    waiting = links[name].split("/")[::-1]
    steps = 1
    if links[name].startswith("/"):
        return True
    while waiting:
        word = waiting.pop()
        if word in ("", "."):
            continue
        if word == "..":
            if not place:
                return True
            place.pop()
            continue
        place.append(word)
        target = links.get("/".join(place))
        if target is not None:
            steps += 1
            if target.startswith("/"):
                return True
            if steps > MOST_STEPS:
                return False
            place.pop()
            waiting.extend(target.split("/")[::-1])
    return False
