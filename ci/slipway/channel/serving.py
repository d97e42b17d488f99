"""Serve a channel's folder over HTTP, to machines of a network that one knows.

Parts of files (``Range``), which readers of packages ask for to see their metadata alone; ``ETag``, so that nobody
fetches an index again that has not changed; and tokens, as conda's tools say them: ``/t/TOKEN/`` before the path, or an
Authorization header. It does not list folders, but gives a folder's index.html, where there is one, as pip wants its
pages; it gives no file whose name begins with a dot.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import http.server
import os
import re
import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from _typeshed import SupportsWrite

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_CHUNK = 1 << 20
_OUTSIDE = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE

PAGE = "index.html"
TYPES = {".json": "application/json", ".zst": "application/zstd", ".html": "text/html"}


def make_server(
    folder: Path,
    place: tuple[str, int],
    *,
    tokens: frozenset[str] = frozenset(),
    certificate: tuple[Path, Path] | None = None,
    on_answer: Callable[[str], None] = lambda line: None,
) -> http.server.ThreadingHTTPServer:
    """A server of the channel in `folder`, not yet running.

    Args:
        place: address and port; port 0 is any that is free.
        tokens: what one of must be said; none: everybody may read.
        certificate: certificate and key, for TLS.
        on_answer: told of each request that was answered, without its token.
    """

    class ChannelHandler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self, *, body: bool) -> None:
            token, path = split_token(urlsplit(self.path).path)
            if tokens and not any(_is_token(one, tokens) for one in (token, *_said(self.headers.get("Authorization")))):
                self._refuse(HTTPStatus.UNAUTHORIZED, path)
                return
            if path.endswith("/"):
                path += PAGE
            file = _open(folder, path)
            if file is None:
                page = _open(folder, f"{path}/{PAGE}")
                if page is None:
                    self._refuse(HTTPStatus.NOT_FOUND, path)
                    return
                page.close()
                self._lead_on(path)
                return
            with file:
                self._send(file, path, body=body)

        def _send(self, file: BinaryIO, path: str, *, body: bool) -> None:
            state = os.fstat(file.fileno())
            tag = f'"{state.st_ino:x}-{state.st_size:x}-{state.st_mtime_ns:x}"'
            part: tuple[int, int] | None = None
            status = HTTPStatus.OK
            if tag in [one.strip() for one in self.headers.get("If-None-Match", "").split(",")]:
                status = HTTPStatus.NOT_MODIFIED
            elif self.headers.get("If-Range", tag) == tag and (asked := self.headers.get("Range")):
                part = find_part(asked, state.st_size)
                if part is not None:
                    status = HTTPStatus.PARTIAL_CONTENT if part[0] < part[1] else _OUTSIDE
            first, end = part or (0, state.st_size)
            self.send_response(status)
            self.send_header("ETag", tag)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Cache-Control", "no-cache")
            if status == _OUTSIDE:
                self.send_header("Content-Range", f"bytes */{state.st_size}")
            elif part is not None:
                self.send_header("Content-Range", f"bytes {first}-{end - 1}/{state.st_size}")
            if status != HTTPStatus.NOT_MODIFIED:
                self.send_header("Content-Type", TYPES.get(path[path.rfind(".") :], "application/octet-stream"))
                self.send_header("Content-Length", str(max(0, end - first)))
            self.end_headers()
            on_answer(f"{int(status)} {path}")
            if body and status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
                file.seek(first)
                _copy(file, self.wfile, end - first)

        def _lead_on(self, path: str) -> None:
            """To the same folder with a slash at its end, from which the page's links are meant."""
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self.send_header("Location", f"./{path.rpartition('/')[2]}/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            on_answer(f"{int(HTTPStatus.MOVED_PERMANENTLY)} {path}")

        def _refuse(self, status: HTTPStatus, path: str) -> None:
            self.send_response(status)
            if status == HTTPStatus.UNAUTHORIZED:
                self.send_header("WWW-Authenticate", 'Basic realm="channel"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            on_answer(f"{int(status)} {path}")

    server = http.server.ThreadingHTTPServer(place, ChannelHandler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def split_token(path: str) -> tuple[str, str]:
    """The token that a path says (empty: none), and the path without it."""
    found = re.match(r"/t/([^/]+)(/.*)$", path)
    return (unquote(found[1]), found[2]) if found else ("", path)


def find_part(asked: str, size: int) -> tuple[int, int] | None:
    """From which byte to before which a ``Range`` asks of a file; empty for none of it, None for what is no range."""
    found = _RANGE.fullmatch(asked.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    first, end = int(found[1]), min(size, int(found[2]) + 1 if found[2] else size)
    return (first, end) if first < end else (size, size)


def _said(header: str | None) -> list[str]:
    """What an Authorization header says that may be a token: a bearer's, a user's name or password."""
    kind, _, value = (header or "").partition(" ")
    if kind.lower() == "bearer":
        return [value.strip()]
    if kind.lower() != "basic":
        return []
    try:
        user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [user, password]


def _is_token(said: str, tokens: frozenset[str]) -> bool:
    return sum(hmac.compare_digest(said.encode(), one.encode()) for one in tokens) > 0  # all, whichever it is


def _open(folder: Path, path: str) -> BinaryIO | None:
    parts = [unquote(part) for part in path.split("/") if part]
    if any(part.startswith(".") or "/" in part or "\0" in part or "\\" in part for part in parts):
        return None
    target = folder.joinpath(*parts)
    try:
        if not target.is_file() or not target.resolve().is_relative_to(folder.resolve()):
            return None
        return target.open("rb")
    except OSError:
        return None


def _copy(file: BinaryIO, sink: SupportsWrite[bytes], size: int) -> None:
    try:
        while size > 0 and (chunk := file.read(min(_CHUNK, size))):
            sink.write(chunk)
            size -= len(chunk)
    except (ConnectionError, TimeoutError):
        """The reader left."""
