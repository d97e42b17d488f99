"""What commands print with ``--json`` where they have no answer of their own, and all of them when they fail."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slipway.base.errors import SlipwayError


@dataclass(frozen=True)
class FailedAnswer:
    """What was wrong.

    Attributes:
        code: the page of `slipway explain` that tells more; null where there is none.
        message: what happened, in one sentence.
        where: the file (with a line), package or address.
        hint: what to do next.
        detail: longer text, such as lines of a log.
    """

    code: str | None
    message: str
    where: str | None
    hint: str | None
    detail: str | None


@dataclass(frozen=True)
class StepAnswer:
    """A part of the work. Attributes: title: what it was. seconds: how long it took."""

    title: str
    seconds: float


@dataclass(frozen=True)
class CommandAnswer:
    """One object on standard output.

    Attributes:
        command: the words that were given.
        exit_code: as the process ends with.
        seconds: that it took.
        lines: what it said as it went.
        steps: what it did, in the order in which it ended.
        output: what it printed besides.
        error: null where all went well.
    """

    command: tuple[str, ...]
    exit_code: int
    seconds: float
    lines: tuple[str, ...] = ()
    steps: tuple[StepAnswer, ...] = ()
    output: str = ""
    error: FailedAnswer | None = None

    def as_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def failed_answer(error: SlipwayError) -> FailedAnswer:
    """An error as an answer holds it."""
    return FailedAnswer(error.code, error.message, error.where, error.hint, error.detail)
