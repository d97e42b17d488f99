"""A file as a store gave it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stored:
    """What a file held when it was read, and what its store calls that version of it."""

    content: bytes
    version: str = ""
