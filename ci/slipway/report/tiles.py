"""Packages as a treemap: a tile per file, as large as the file; small files share one; GPU code is told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.text import human_size
from slipway.report.layout import Box, squarify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.report.contents import FileSize, PackageContents

WHOLE = Box(0.0, 0.0, 1000.0, 440.0)
"""The map's shape; the page scales it."""

SMALLEST_SHARE = 0.0015
"""Of the whole map: what is smaller is drawn together with others of its package."""


@dataclass(frozen=True)
class Tile:
    """A rectangle of the map in shares (0 to 1) of what it is in; `kind` decides its colour.

    Attributes:
        label: what stands in it where there is room; `what` says it in full, `tip` with its size.
        size: bytes as installed; `share` of its package, 0 to 1.
    """

    label: str
    what: str
    kind: str
    size: int
    share: float
    box: Box
    tip: str


@dataclass(frozen=True)
class PackageTile:
    """A package's part of the map, with its files in it."""

    name: str
    label: str
    box: Box
    files: tuple[Tile, ...]
    device_code: tuple[tuple[str, int, float], ...]
    packed: int
    installed: int


def file_kind(path: str) -> str:
    """What a file is: ``library``, ``program``, ``header``, ``python``, ``compiled`` or ``other``."""
    name = path.rpartition("/")[2]
    if ".so" in name or name.endswith(".a"):
        return "library"
    if name.endswith((".h", ".hpp", ".cuh", ".inc")):
        return "header"
    if name.endswith(".pyc"):
        return "compiled"
    if name.endswith((".py", ".pyi")):
        return "python"
    return "program" if path.startswith("bin/") else "other"


def tile_packages(packages: Sequence[PackageContents]) -> list[PackageTile]:
    """The map of all packages that install something, largest first."""
    chosen = sorted((package for package in packages if package.installed), key=lambda package: -package.installed)
    total = sum(package.installed for package in chosen)
    tiles = []
    for package, box in zip(chosen, squarify([package.installed for package in chosen], WHOLE), strict=True):
        code = package.device_code
        largest = max(code.values(), default=1)
        tiles.append(
            PackageTile(
                name=package.name,
                label=package.name.rsplit("-", 2)[0],
                box=_share(box, WHOLE),
                files=tuple(_file_tiles(package, box, total)),
                device_code=tuple((name, size, size / largest) for name, size in code.items()),
                packed=package.packed,
                installed=package.installed,
            )
        )
    return tiles


def _file_tiles(package: PackageContents, box: Box, total: int) -> list[Tile]:
    least = SMALLEST_SHARE * total
    parts = [part for file in package.files for part in _parts(file)]
    large = sorted((part for part in parts if part[3] >= least), key=lambda part: -part[3])
    small = [part for part in parts if part[3] < least]
    if small:
        size = sum(part[3] for part in small)
        large.append((f"{len(small)} more", f"{len(small)} smaller files", "other", size))
        large.sort(key=lambda part: -part[3])
    large = [part for part in large if part[3] > 0]
    boxes = squarify([part[3] for part in large], box)
    return [
        Tile(
            label=label,
            what=what,
            kind=kind,
            size=size,
            share=size / package.installed,
            box=place,
            tip=f"{what}: {human_size(size)}, {size / package.installed:.1%} of {package.name}",
        )
        for (label, what, kind, size), place in zip(large, (_share(found, box) for found in boxes), strict=True)
    ]


def _parts(file: FileSize) -> list[tuple[str, str, str, int]]:
    """Label, description, kind and bytes: of the file's GPU code by architecture, and of the rest of it."""
    name = file.path.rpartition("/")[2]
    parts = [
        (f"{name} {code}", f"{file.path}, code for {code}", "device", size) for code, size in file.device_code.items()
    ]
    rest = max(file.size - sum(file.device_code.values()), 0)
    what = f"{file.path}, code for the processor" if parts else file.path
    return [*parts, (name, what, file_kind(file.path), rest)]


def _share(box: Box, whole: Box) -> Box:
    return Box(
        (box.x - whole.x) / whole.width if whole.width else 0.0,
        (box.y - whole.y) / whole.height if whole.height else 0.0,
        box.width / whole.width if whole.width else 0.0,
        box.height / whole.height if whole.height else 0.0,
    )
