"""What is around packages, and device code, made by the tests."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping  # noqa: TC003 - pytest reads fixtures' types

import pytest

from slipway.verify.facts import Inventory


@pytest.fixture
def brings() -> Callable[..., Inventory]:
    """``brings("lib/liba.so.1", links={...}, exports=[...])``: what a package around brings."""

    def make(*paths: str, links: Mapping[str, str] | None = None, exports: Iterable[str] = ()) -> Inventory:
        found = dict.fromkeys(paths, False) | dict.fromkeys(links or {}, True)
        return Inventory(found, frozenset(exports), dict(links or {}))

    return make


@pytest.fixture
def fat_binary() -> Callable[..., bytes]:
    """``fat_binary("sm_80", "compute_90")``: one container with an empty entry for each architecture."""

    def make(*codes: str) -> bytes:
        entries = b""
        for code in codes:
            kind, _, number = code.partition("_")
            payload = b"code" * 4
            header = struct.pack("<HHIQIIHHI", {"compute": 1, "sm": 2}[kind], 257, 64, 16, 0, 0, 0, 1, int(number))
            entries += header.ljust(64, b"\0") + payload
        return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries

    return make
