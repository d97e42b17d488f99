"""Requests to a server, made again where it cannot answer for the moment, and errors that say what to do."""

from __future__ import annotations

import hashlib
import re
import time
import urllib.error
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import NetworkError
from slipway.base.http import DOWNLOAD_ERRORS, open_url, read_chunks, read_limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message
    from pathlib import Path

TRIES = 3
"""How often a request is made that the server cannot answer."""


@dataclass(frozen=True)
class ServerAnswer:
    """A server's answer; of a body that nobody asked to keep, only its size and sha256 are known."""

    status: int
    headers: Message
    size: int
    sha256: str
    content: bytes


class Server:
    """Asks one server.

    Args:
        headers: what every request says, such as who asks.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = dict(headers)
        self._limits = read_limits()

    def ask(
        self,
        method: str,
        url: str,
        *,
        accept: tuple[int, ...],
        body: bytes | Path | None = None,
        headers: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> ServerAnswer:
        """What the server answers, if its status is one of `accept`.

        Args:
            keep: whether the body is wanted, not only its size and its digest.

        Raises:
            NetworkError: it answers something else, or nothing, or breaks off.
        """
        sent = {"User-Agent": "slipway", "Cache-Control": "no-cache", **self.headers, **(headers or {})}
        problem = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(0.3 * 2**attempt)
            try:
                answer = self.ask_once(method, url, body, sent, keep=keep)
            except DOWNLOAD_ERRORS as error:
                problem = str(getattr(error, "reason", error))
                continue
            promised = answer.headers.get("Content-Length")
            if method == "GET" and answer.status == 200 and promised and int(promised) != answer.size:
                problem = f"it promised {promised} bytes and sent {answer.size}"
                continue
            if answer.status in accept:
                return answer
            problem = f"{method} is answered with {answer.status}"
            if answer.status < 500:
                break
        hint = "nothing that readers see has changed; run the same command again, it goes on"
        if re.search(r"\b40[13]$", problem):
            hint = (
                "it asks who you are, or your token has expired: give the address a user and a password, "
                "or name a file of credentials in RATTLER_AUTH_FILE"
            )
        raise NetworkError(f"the server did not do it: {problem}", where=url, hint=hint)

    def ask_once(
        self, method: str, url: str, body: bytes | Path | None, headers: Mapping[str, str], *, keep: bool = False
    ) -> ServerAnswer:
        """What the server answers, whatever its status."""
        digest, size, content = hashlib.sha256(), 0, bytearray()
        try:
            with open_url(url, self._limits, headers, method, body) as reply:
                for chunk in read_chunks(reply, url, self._limits, most=self._limits.file_bytes):
                    digest.update(chunk)
                    size += len(chunk)
                    if keep:
                        content += chunk
                return ServerAnswer(reply.status, reply.headers, size, digest.hexdigest(), bytes(content))
        except urllib.error.HTTPError as error:
            error.close()
            return ServerAnswer(error.code, error.headers, 0, "", b"")
