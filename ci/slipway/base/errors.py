"""What can go wrong, as types. A message says what happened; `where` and `hint` say where, and what to do next.

Libraries raise these; only the command line turns them into text and an exit code. Anything else that escapes is a
bug in slipway and keeps its traceback.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import ClassVar

from slipway.base.secrets import redact


class SlipwayError(Exception):
    """Base of every failure a user can cause, meet or cure; its texts hold no secrets, see `slipway.base.secrets`.

    Args:
        message: what happened, in one sentence, without a final full stop.
        where: the file (``path:line`` for a recipe), package or address it happened at.
        hint: what to do next.
        detail: longer text to show below, such as the end of a log.
        code: the page that tells more, one of `slipway.base.error_pages`.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        detail: str | None = None,
        code: str | None = None,
    ) -> None:
        self.code = code
        self.message = redact(message)
        super().__init__(self.message)
        self.where = where and redact(where)
        self.hint = hint and redact(hint)
        self.detail = detail and redact(detail)


class UsageError(SlipwayError):
    """The command line asks for something that does not exist."""

    exit_code = 2


class RecipeWarning(UserWarning):
    """What a recipe says is probably not what was meant, and conda-build takes it all the same."""

    def __init__(self, message: str, *, where: str, hint: str, code: str | None = None) -> None:
        super().__init__(f"{where}: {message}")
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint


class RecipeError(SlipwayError):
    """A recipe, or a variant configuration, cannot be read or rendered."""

    exit_code = 3


class VariantError(SlipwayError):
    """No variant of the recipe matches what was asked for."""

    exit_code = 4


_CLOCK = re.compile(r"not yet valid|not valid yet|NotValidYet|has expired|: Expired|TimeTooSkewed", re.IGNORECASE)
"""What TLS, apt and S3 say where the two sides disagree about the time."""


class NetworkError(SlipwayError):
    """A download could not be made, and no cached copy serves instead."""

    exit_code = 5

    def __init__(
        self, message: str, *, hint: str | None = None, detail: str | None = None, **places: str | None
    ) -> None:
        if _CLOCK.search(f"{message} {detail}"):
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
            hint = f"is this machine's clock right? It says {now} UTC. If it is, ask who runs the server"
        super().__init__(message, hint=hint, detail=detail, **places)


class IntegrityError(SlipwayError):
    """A file's bytes are not the ones that the lock, the index or the package promises."""

    exit_code = 6


class SolveError(SlipwayError):
    """No set of packages satisfies the request.

    Attributes:
        channels: where packages were looked for.
    """

    exit_code = 7
    channels: tuple[str, ...] = ()


class BuildError(SlipwayError):
    """A build script or a package's own test failed."""

    exit_code = 8


class VerifyError(SlipwayError):
    """A package breaks a policy, so the channel does not take it."""

    exit_code = 9


class DiskFullError(SlipwayError):
    """The disk filled up; what was half written has been removed."""

    exit_code = 10


class HostError(SlipwayError):
    """This machine lacks something slipway cannot bring along."""

    exit_code = 11


class ChannelError(SlipwayError):
    """A channel cannot be read, or cannot be changed."""

    exit_code = 12


class BusyError(SlipwayError):
    """Another slipway is at work there."""

    exit_code = 13


class TestsFailedError(SlipwayError):
    """`slipway test` ran, and something did not pass."""

    exit_code = 14


INTERRUPTED_EXIT_CODE = 130
"""Ctrl-C: the shell's convention, 128 + SIGINT."""

EXIT_CODES = """\
exit codes:
  0 done   1 failed   2 usage   3 recipe   4 no such variant   5 network   6 wrong bytes   7 no solution
  8 build or test of a package   9 package refused   10 disk full   11 machine lacks something   12 channel
  13 another slipway at work   14 tests failed   130 interrupted (run it again: it goes on)"""
