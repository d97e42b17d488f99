"""Which GPUs a fat binary has code for, read from its headers; the code itself may stay compressed.

A section holds containers, each padded to 8 bytes:

    container  u32 magic 0xBA55ED50, u16 version, u16 size of this header, u64 size of the entries that follow
    entry      u16 kind (1: PTX, 2: machine code), u16, u32 size of this header, u64 size of the payload,
               u32 packed size, u32, u16 minor, u16 major, u32 architecture (90 for sm_90), ...

The layout is what public readers of the format agree on; tests/integration/test_device_code.py compares the answers
with those of NVIDIA's cuobjdump.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAGIC = 0xBA55ED50
_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHI")
_KINDS = {1: "compute", 2: "sm"}
_LEAST_ENTRY_HEADER = _ENTRY.size


@dataclass(frozen=True, order=True)
class DeviceCode:
    """Code of one kind for one architecture: ``sm`` (machine code) or ``compute`` (PTX); `size`: its bytes."""

    kind: str
    architecture: int
    size: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}_{self.architecture}"


def read_device_code(section: bytes) -> list[DeviceCode]:
    """Every entry of every container in `section`, in the order found.

    Raises:
        ValueError: the section is no sequence of containers.
    """
    found: list[DeviceCode] = []
    position = 0
    while position + _CONTAINER.size <= len(section):
        magic, _version, header_size, size = _CONTAINER.unpack_from(section, position)
        if magic == 0:  # padding between the containers of two object files
            position += 8
            continue
        if magic != _MAGIC:
            raise ValueError(f"no fat binary at offset {position} of the device code")
        start = position + header_size
        if header_size < _CONTAINER.size or start + size > len(section):
            raise ValueError("the device code is truncated")
        found.extend(_entries(section, start, start + size))
        position = (start + size + 7) & ~7
    return found


def add_up(codes: Iterable[DeviceCode]) -> tuple[DeviceCode, ...]:
    """One entry for each kind and architecture, in order, with the size of all of `codes` that are alike."""
    sizes: dict[DeviceCode, int] = {}
    for code in codes:
        sizes[code] = sizes.get(code, 0) + code.size
    return tuple(sorted(replace(code, size=size) for code, size in sizes.items()))


def _entries(section: bytes, position: int, end: int) -> list[DeviceCode]:
    found = []
    while position + _ENTRY.size <= end:
        kind, _, header_size, size, _, _, _, _, architecture = _ENTRY.unpack_from(section, position)
        if header_size < _LEAST_ENTRY_HEADER or position + header_size + size > end:
            raise ValueError("an entry of the device code is truncated")
        if kind in _KINDS:
            found.append(DeviceCode(_KINDS[kind], architecture, header_size + size))
        position += header_size + size
    return found
