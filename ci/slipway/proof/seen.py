"""How far signed channels were seen on this machine, so that nobody gets an earlier state of one for today's.

Every change of a channel's catalogue counts its number up, and the number is signed with it. The greatest one that was
seen is kept in the cache, by the channel's address. A file of them that cannot be read is an error, never an empty one:
else whoever damages it could give out any earlier state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping  # noqa: TC003 - `convert` reads the annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError
from slipway.base.files import replace_file
from slipway.base.json_file import parse_json
from slipway.base.locks import hold_lock
from slipway.base.schema import convert
from slipway.base.user_cache import cache_folder
from slipway.channel.catalogue import CATALOGUE
from slipway.channel.limited_access import plain_address

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 60
"""How long to wait for another slipway that just writes one down."""


@dataclass(frozen=True)
class SeenChannels:
    """The file: the greatest number by a channel's address, without what is secret in that."""

    numbers: Mapping[str, int]


def seen_number(address: str) -> int | None:
    """The greatest number that the channel at `address` was seen with; None if it never was.

    Raises:
        IntegrityError: what was seen cannot be read.
    """
    return _read().get(plain_address(address))


def check_number(address: str, number: int) -> None:
    """See to it that a channel is not an earlier state than this machine has seen.

    Raises:
        IntegrityError: it is.
    """
    _check(address, number, seen_number(address))


def remember_number(address: str, number: int, *, allow_rollback: bool = False) -> None:
    """Write down that a channel was seen with this number.

    Args:
        allow_rollback: a smaller one, too.

    Raises:
        IntegrityError: a greater one was seen before.
    """
    if seen_number(address) == number:
        return
    path, name = _file(), plain_address(address)
    with hold_lock(path.with_suffix(".lock"), patience=PATIENCE_SECONDS):
        known = _read()
        if not allow_rollback:
            _check(address, number, known.get(name))
        with replace_file(path) as beside, beside.open("w", encoding="utf-8") as stream:
            json.dump({"numbers": {**known, name: number}}, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())  # else a machine that stops may leave an empty file behind the rename


def _check(address: str, number: int, known: int | None) -> None:
    if known is not None and number < known:
        raise IntegrityError(
            f"the channel is an earlier state of itself: its catalogue has the number {number}, and {known} was seen "
            "here before",
            where=f"{address}/{CATALOGUE}",
            hint="ask who runs it. If it was put back on purpose: `slipway channel verify --allow-rollback` takes it",
        )


def _file() -> Path:
    return cache_folder() / "seen-channels.json"


def _read() -> Mapping[str, int]:
    path = _file()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    found = convert(parse_json(content), SeenChannels)
    if found is None:
        raise _unreadable(path, "it is damaged")
    return found.numbers


def _unreadable(path: Path, problem: str) -> IntegrityError:
    return IntegrityError(
        f"the file that says how far signed channels were seen cannot be read: {problem}",
        where=str(path),
        hint="put back a copy of it. If there is none, ask who runs your signed channels for the number in their "
        "catalogue.json, then remove the file: the next state that is seen of each is believed",
    )
