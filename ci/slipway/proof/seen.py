"""How far signed channels were seen on this machine, so that nobody gets an earlier state for today's, or another one.

Every change of a channel's catalogue counts its number up, and the number is signed with it, as is the identity that
the channel was made with. The greatest number that was seen is kept in the cache with it, by the channel's address. A
file of them that cannot be read is an error, never an empty one: else whoever damages it could give out any earlier
state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping  # noqa: TC003 - `convert` reads the annotations
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError
from slipway.base.files import replace_file
from slipway.base.json_file import parse_json
from slipway.base.locks import hold_lock
from slipway.base.schema import convert
from slipway.base.user_folders import state_folder
from slipway.channel.catalogue import CATALOGUE, ChannelState
from slipway.channel.limited_access import plain_address

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 60
"""How long to wait for another slipway that just writes one down."""


@dataclass(frozen=True)
class SeenChannels:
    """The file: the greatest number, and the identity, by a channel's address without what is secret in that."""

    numbers: Mapping[str, int]
    identities: Mapping[str, str] = field(default_factory=dict)

    def find(self, address: str) -> ChannelState | None:
        """What was seen at an address."""
        name = plain_address(address)
        return ChannelState(self.numbers[name], self.identities.get(name, "")) if name in self.numbers else None


def seen_state(address: str) -> ChannelState | None:
    """The latest state that the channel at `address` was seen in; None if it never was.

    Raises:
        IntegrityError: what was seen cannot be read.
    """
    return _read().find(address)


def check_state(address: str, state: ChannelState) -> None:
    """See to it that a channel is not an earlier state than this machine has seen, and none of another channel.

    Raises:
        IntegrityError: it is.
    """
    _check(address, state, seen_state(address))


def remember_state(address: str, state: ChannelState, *, allow_rollback: bool = False) -> None:
    """Write down that a channel was seen in this state.

    Args:
        allow_rollback: an earlier one, too, or another channel's.

    Raises:
        IntegrityError: a later one was seen before, or another channel.
    """
    if seen_state(address) == state:
        return
    path, name = _file(), plain_address(address)
    with hold_lock(path.with_suffix(".lock"), patience=PATIENCE_SECONDS):
        known = _read()
        if not allow_rollback:
            _check(address, state, known.find(address))
        numbers = {**known.numbers, name: state.number}
        identities = {**known.identities, name: state.identity}
        with replace_file(path) as beside, beside.open("w", encoding="utf-8") as stream:
            json.dump(asdict(SeenChannels(numbers, identities)), stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())  # else a machine that stops may leave an empty file behind the rename


def _check(address: str, state: ChannelState, known: ChannelState | None) -> None:
    if known is None:
        return
    hint = "ask who runs it. If it was put back on purpose: `slipway channel verify --allow-rollback` takes it"
    if known.identity and state.identity != known.identity:
        raise IntegrityError(
            "the channel is another one than was seen here before, with a catalogue of its own that the same keys may "
            "have signed",
            where=f"{address}/{CATALOGUE}",
            hint=hint.replace("put back", "exchanged"),
        )
    if state.number < known.number:
        raise IntegrityError(
            f"the channel is an earlier state of itself: its catalogue has the number {state.number}, and "
            f"{known.number} was seen here before",
            where=f"{address}/{CATALOGUE}",
            hint=hint,
        )


def _file() -> Path:
    return state_folder() / "seen-channels.json"


def _read() -> SeenChannels:
    path = _file()
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return SeenChannels({})
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    found = convert(parse_json(content), SeenChannels)
    if found is None:
        raise _unreadable(path, "it is damaged")
    return found


def _unreadable(path: Path, problem: str) -> IntegrityError:
    return IntegrityError(
        f"the file that says how far signed channels were seen cannot be read: {problem}",
        where=str(path),
        hint="put back a copy of it. If there is none, ask who runs your signed channels for the number in their "
        "catalogue.json, then remove the file: the next state that is seen of each is believed",
    )
