"""Channels elsewhere, reached through a server of our own on this machine, which keeps the limits of `base.http`.

rattler fetches by itself and knows no such limits. So it is sent here: each channel has a local address, and what is
asked of that is fetched from where the channel really is, piece by piece. Channels in buckets and registries are
read by what publishes there (`slipway.channel.stores`), whole files at a time.

What an address says of a user, a password or a token stays here, too: rattler gets the address without them, so none
is in what it writes down, such as its cache of indexes or the records of an installation.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import threading
import urllib.error
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import slipway.channel.stores.oci  # as modules: what they hold is no part of the key of `slipway.bootstrap.code`
import slipway.channel.stores.s3
from slipway.base.errors import ChannelError, HostError, SlipwayError
from slipway.base.http import (
    DOWNLOAD_ERRORS,
    PAGE_HINT,
    ServerLimitError,
    is_page,
    open_url,
    read_chunks,
    read_limits,
)
from slipway.base.secrets import remember_url
from slipway.channel import rattler
from slipway.channel.credentials import CREDENTIALS, read_authorization

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_TOKEN = re.compile(r"^/t/[^/]+(?=/|$)")
_ASKED = ("If-None-Match", "If-Modified-Since", "Authorization", "Accept", "Range")
_ANSWERED = ("Content-Length", "Content-Type", "ETag", "Last-Modified", "Cache-Control", "Content-Range")


WEB = ("http", "https")
STORED = ("s3", "oci", "oci+http")
"""Schemes of channels that a store reads."""

_given: dict[str, str] = {}
"""Addresses as they were given, by the same without what is secret in them."""


def without_credentials(address: str) -> str:
    """The address of a channel without a user, a password (``https://USER:PASSWORD@...``) or a token (``/t/TOKEN/``).

    They come back with `with_credentials` for as long as this process lives.

    Raises:
        ChannelError: it is no address.
    """
    plain = plain_address(address)
    if plain != address.rstrip("/") and urlsplit(address).scheme in (*WEB, *STORED):
        remember_url(address)
        _given[plain] = address.rstrip("/")
    return plain


def plain_address(address: str) -> str:
    """The same, for what only tells one channel from another.

    Raises:
        ChannelError: it is no address.
    """
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise ChannelError(f"this is no address of a channel: {error}", where=address) from error
    if parts.scheme not in (*WEB, *STORED):
        return address
    path = _TOKEN.sub("", parts.path) if parts.scheme in WEB else parts.path
    scheme = parts.scheme.partition("+")[0]  # rattler takes no other name of a registry than `oci`
    return parts._replace(scheme=scheme, netloc=parts.netloc.rpartition("@")[2], path=path).geturl().rstrip("/")


def with_credentials(address: str) -> str:
    """`address`, which lies in a channel, with what `without_credentials` took out of the channel's."""
    for plain, given in sorted(_given.items(), key=lambda pair: -len(pair[0])):
        if address.startswith(f"{plain}/"):
            return given + address.removeprefix(plain)
    return address


class LimitedAccess:
    """The local addresses of channels, while `limited_access` lasts.

    Attributes:
        problem: the first limit that a server went over.
        trouble: why the first server that could not be reached was not; empty if all were.
        channels: what rattler is to call them.
    """

    def __init__(self, channels: Sequence[str], sizes: Mapping[str, int]) -> None:
        self.problem: ServerLimitError | None = None
        self.trouble = ""
        self.channels = [without_credentials(url) for url in channels]
        self._limits = read_limits()
        self._sizes = sizes
        self._token = secrets.token_hex(8)
        self._remote = [url for url in self.channels if urlsplit(url).scheme in (*WEB, *STORED)]
        self._server = self._start() if self._remote else None

    def address_of(self, channel: str) -> str:
        """Where to reach `channel`: it itself if it lies on this machine."""
        url = without_credentials(channel)
        if self._server is None or url not in self._remote:
            return channel
        return f"http://127.0.0.1:{self._server.server_port}/{self._token}/{self._remote.index(url)}"

    def client(self) -> rattler.Client:
        """What rattler fetches with: addresses stay as they are in its caches and records."""
        mirrors = {f"{url}/": [f"{self.address_of(url)}/"] for url in self._remote}
        try:
            return rattler.Client([rattler.AuthenticationMiddleware(), rattler.MirrorMiddleware(mirrors)])
        except rattler.exceptions.AuthenticationStorageError as error:
            place = os.environ.get("RATTLER_AUTH_FILE") or str(CREDENTIALS)
            raise HostError(f"the file of credentials cannot be read: {error}", where=place) from error

    def explain(self, text: str) -> str:
        """What rattler says of an error, with the addresses of channels instead of ours, and the reason below it."""
        for url in self._remote:
            text = text.replace(self.address_of(url), url)
        return f"{text} ({self.trouble})" if self.trouble else text

    def close(self) -> None:
        """Answer no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _start(self) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class LimitedHandler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def do_HEAD(self) -> None:
                outer._answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return LimitedHandler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        _, token, index, rest = [*handler.path.split("/", 3), "", "", ""][:4]
        if token != self._token or not index.isdigit() or int(index) >= len(self._remote) or self.problem is not None:
            handler.send_error(403)
            return
        url = f"{self._remote[int(index)]}/{rest}"
        is_package = rest.endswith((".conda", ".tar.bz2"))
        most = self._sizes.get(url) or (self._limits.file_bytes if is_package else self._limits.index_bytes)
        limit = "" if url in self._sizes else "file_bytes" if is_package else "index_bytes"
        begun = False
        try:
            if urlsplit(url).scheme in STORED:
                self._answer_from_store(handler, self._remote[int(index)], rest, most, limit)
                return
            headers = {name: handler.headers[name] for name in _ASKED if name in handler.headers}
            headers = read_authorization(url) | headers
            headers["User-Agent"] = "slipway"
            with open_url(with_credentials(url), self._limits, headers, handler.command) as answer:
                chunks = read_chunks(answer, url, self._limits, most=most, limit=limit)
                first = next(chunks, b"")
                if is_page(first):
                    raise ChannelError(f"the server answers with a page instead of {rest}; {PAGE_HINT}")
                handler.send_response(answer.status)
                for name in _ANSWERED:
                    if name in answer.headers:
                        handler.send_header(name, answer.headers[name])
                handler.send_header("Connection", "close")
                handler.end_headers()
                begun = True
                for chunk in itertools.chain((first,), chunks):
                    handler.wfile.write(chunk)
        except ServerLimitError as error:
            self.problem = self.problem or error
            with contextlib.suppress(OSError):  # cut off, so that nobody takes it for the whole
                if not begun:
                    handler.send_error(403)
                handler.connection.shutdown(2)
        except urllib.error.HTTPError as error:
            error.close()
            handler.send_response(error.code)
            asked = handler.headers.get("If-None-Match")
            if error.code == 304 and asked is not None:
                handler.send_header("ETag", asked)  # without which rattler does not take it; not all servers repeat it
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        except (*DOWNLOAD_ERRORS, SlipwayError) as error:
            self.trouble = self.trouble or str(getattr(error, "reason", error))
            if not begun:
                with contextlib.suppress(OSError):
                    handler.send_error(502)
        handler.close_connection = True

    def _answer_from_store(
        self, handler: BaseHTTPRequestHandler, channel: str, name: str, most: int, limit: str
    ) -> None:
        address = with_credentials(f"{channel}/").rstrip("/")
        kinds = slipway.channel.stores
        store = kinds.s3.BucketStore(address) if address.startswith("s3:") else kinds.oci.RegistryStore(address)
        stored = store.read(name)
        content = b"" if stored is None else stored.content
        if len(content) > most:
            what = f"has more than the {most} bytes that {'are allowed' if limit else 'its channel promises'}"
            raise ServerLimitError(f"a download {what}", f"{channel}/{name}", limit or "file_bytes")
        handler.send_response(404 if stored is None else 200)
        handler.send_header("Content-Length", str(len(content)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(content)
        handler.close_connection = True


@contextmanager
def limited_access(channels: Sequence[str], sizes: Mapping[str, int] | None = None) -> Iterator[LimitedAccess]:
    """Local addresses for the `channels` that lie elsewhere, for as long as the block lasts.

    Args:
        sizes: bytes of each package, by its address, as its channel promises.

    Raises:
        ServerLimitError: instead of the block's own error, where a server went over a limit.
    """
    access = LimitedAccess(channels, sizes or {})
    try:
        yield access
    except Exception as error:
        if access.problem is not None:
            raise access.problem from error
        raise
    finally:
        access.close()
