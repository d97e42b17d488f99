"""Downloads with limits: no server holds slipway for ever, sends without end, or so slowly that it never ends.

The limits are generous, and variables of the environment change them, see `read_limits`.
"""

from __future__ import annotations

import base64
import http.client
import os
import queue
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from slipway.base.errors import NetworkError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CHUNK = 1 << 16


@dataclass(frozen=True)
class HttpLimits:
    """What a server may take of time and room; each is set by ``SLIPWAY_HTTP_`` and its name in capitals.

    Attributes:
        silent_seconds: how long it may say nothing, from the connection on, and how long its first word may take.
        speed_seconds: over how long its speed is measured.
        least_speed: bytes per second that it gives at least.
        index_bytes: how large the index of a channel may be.
        file_bytes: how large any other file may be whose size nobody promises.
        git_seconds: how long git may fetch at a time.
    """

    silent_seconds: int = 60
    speed_seconds: int = 60
    least_speed: int = 1000
    index_bytes: int = 2 << 30
    file_bytes: int = 32 << 30
    git_seconds: int = 6 * 3600


def _variable(name: str) -> str:
    return f"SLIPWAY_HTTP_{name.upper()}"


def read_limits(environ: Mapping[str, str] = os.environ) -> HttpLimits:
    """The limits that the environment asks for.

    Raises:
        UsageError: one is no whole number above 0.
    """
    values = {}
    for field in fields(HttpLimits):
        written = environ.get(_variable(field.name), "")
        if written and not (written.isascii() and written.isdigit() and int(written)):
            raise UsageError(f"{_variable(field.name)}: `{written}` is no whole number above 0")
        if written:
            values[field.name] = int(written)
    return HttpLimits(**values)


class ServerLimitError(NetworkError):
    """A server went over a limit; asking it again is no use."""

    def __init__(self, message: str, url: str, limit: str) -> None:
        hint = f"is this the right address? {_variable(limit)} sets that limit"
        super().__init__(message, where=url, hint=hint)


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follows a server to another address, but does not tell another server who asks."""

    def redirect_request(self, req: urllib.request.Request, *details: Any) -> urllib.request.Request | None:
        """See `urllib.request.HTTPRedirectHandler`; the last of `details` is the new address."""
        following = super().redirect_request(req, *details)
        if following is not None and not is_same_server(req.full_url, following.full_url):
            following.remove_header("Authorization")
        return following


@cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Redirections)


def is_same_server(before: str, after: str) -> bool:
    """Whether an address lies on the server of another one, or on the same host behind TLS."""
    old, new = urlsplit(before), urlsplit(after)
    return old.hostname == new.hostname and ((old.scheme, old.port) == (new.scheme, new.port) or new.scheme == "https")


def is_page(content: bytes) -> bool:
    """Whether what a server gave as a file begins like a page for people, as a portal that wants a login shows it."""
    return content[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


PAGE_HINT = "is this the channel's address? Somebody in between, such as a proxy or a hotel, may want a login"


@contextmanager
def open_url(
    url: str, limits: HttpLimits, headers: Mapping[str, str], method: str = "GET", body: bytes | Path | None = None
) -> Iterator[Any]:
    """The server's answer, once its first words are there; its body is for `read_chunks`.

    Args:
        body: what is sent, as bytes or as a file; the server may take as long for it as its least speed allows.

    Raises:
        ServerLimitError: it took too long; OSError, http.client.HTTPException, ValueError: as `urllib` raises them.
    """
    address, authorization = _split_user(url)
    size = body.stat().st_size if isinstance(body, Path) else len(body or b"")
    request = urllib.request.Request(address, headers={**authorization, **headers}, method=method)
    answers: queue.Queue[Any] = queue.Queue()

    def ask() -> None:
        try:
            with body.open("rb") if isinstance(body, Path) else nullcontext(body) as request.data:
                if body is not None:
                    request.add_header("Content-Length", str(size))
                    request.add_header("Content-Type", headers.get("Content-Type", "application/octet-stream"))
                answers.put(_opener().open(request, timeout=limits.silent_seconds))
        except BaseException as error:  # handed on to who waits
            answers.put(error)

    # A server that sends its header byte by byte is never silent: so somebody else looks at the clock.
    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=limits.silent_seconds + size / limits.least_speed + 1)
    except queue.Empty:
        raise _silent(url, limits) from None
    if isinstance(answer, BaseException):
        reason = getattr(answer, "reason", answer)
        if isinstance(reason, TimeoutError | socket.timeout):
            raise _silent(url, limits) from answer
        raise answer
    with answer:
        yield answer


def read_chunks(answer: Any, url: str, limits: HttpLimits, *, most: int, limit: str = "file_bytes") -> Iterator[bytes]:
    """The body of an answer, piece by piece.

    Args:
        most: bytes that it may have, and `limit` who says so: the name of a limit, or "" for a promise.

    Raises:
        ServerLimitError: it is too large, too slow, or the server fell silent.
    """
    total = counted = 0
    since = time.monotonic()
    while True:
        try:
            chunk = answer.read1(_CHUNK)
        except TimeoutError:
            raise _silent(url, limits) from None
        if not chunk:
            return
        total, counted = total + len(chunk), counted + len(chunk)
        if total > most:
            what = f"has more than the {most} bytes that {'are allowed' if limit else 'its channel promises'}"
            raise ServerLimitError(f"a download {what}", url, limit or "file_bytes")
        seconds = time.monotonic() - since
        if seconds >= limits.speed_seconds:
            if counted < limits.least_speed * seconds:
                raise _slow(counted, seconds, url)
            counted, since = 0, time.monotonic()
        yield chunk


class DownloadWatch:
    """Holds a program that downloads by itself to the limits, by the bytes that come to lie in its folder.

    Args:
        what: what it downloads, for errors.
        most: bytes that may come to lie there; None for the limit of files whose size nobody promises.
    """

    def __init__(self, folder: Path, what: str, limits: HttpLimits, most: int | None = None) -> None:
        self._folder = folder
        self._what = what
        self._limits = limits
        self._most = limits.file_bytes if most is None else most
        self._began = self._last = _bytes_below(folder)
        self._counted, self._since = 0, time.monotonic()

    def __call__(self) -> None:
        """Look once.

        Raises:
            ServerLimitError: too much has come, or too little since the speed was last measured.
        """
        total = _bytes_below(self._folder)
        self._counted, self._last = self._counted + max(0, total - self._last), total
        if total - self._began > self._most:
            raise ServerLimitError(f"more than the {self._most} bytes that are allowed", self._what, "file_bytes")
        seconds = time.monotonic() - self._since
        if seconds >= self._limits.speed_seconds:
            if self._counted < self._limits.least_speed * seconds:
                raise _slow(self._counted, seconds, self._what)
            self._counted, self._since = 0, time.monotonic()


def _bytes_below(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # it was moved in between
                total += Path(where, name).stat().st_size
    return total


def _slow(count: int, seconds: float, where: str) -> ServerLimitError:
    return ServerLimitError(f"a server is too slow: {count} bytes in {seconds:.0f} seconds", where, "least_speed")


def _silent(url: str, limits: HttpLimits) -> ServerLimitError:
    return ServerLimitError(f"a server said nothing for {limits.silent_seconds} seconds", url, "silent_seconds")


def _split_user(url: str) -> tuple[str, dict[str, str]]:
    """The address without the user and the password in it, and the header that says them instead."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.username is None:
        return url, {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return plain, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


DOWNLOAD_ERRORS = (OSError, http.client.HTTPException, ValueError)
"""What `open_url` and `read_chunks` raise beside limits: nobody there, no such file, nonsense."""
